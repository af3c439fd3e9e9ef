variable "workers" {
  description = "Every worker role, from the Terraform inputs (`python -m headrace.tools.terraform_inputs`)."
  type = map(object({
    image                = object({ name = string, digest = string })
    entrypoint           = list(string)
    command              = list(string)
    settings             = map(string)
    required_variables   = list(string)
    secrets              = map(string)
    optional_secrets     = map(string)
    kind                 = string
    lane                 = string
    metrics_port         = number
    cpu                  = number
    memory               = number
    health_check         = list(string)
    drain_seconds        = number
    stop_timeout_seconds = number
  }))
  nullable = false

  validation {
    condition     = alltrue([for worker in values(var.workers) : can(regex("^sha256:[0-9a-f]{64}$", worker.image.digest))])
    error_message = "Every worker's image needs its digest: make the inputs with --images."
  }
}

variable "migration" {
  description = "What brings the schemas up to date, from the Terraform inputs."
  type = object({
    image              = object({ name = string, digest = string })
    entrypoint         = list(string)
    command            = list(string)
    settings           = map(string)
    required_variables = list(string)
    secrets            = map(string)
    optional_secrets   = map(string)
  })
  nullable = false

  validation {
    condition     = can(regex("^sha256:[0-9a-f]{64}$", var.migration.image.digest))
    error_message = "The migration's image needs its digest: make the inputs with --images."
  }
}

variable "release" {
  description = "The commit that the images were built from; stands in every log line."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9a-f]{40}$", var.release))
    error_message = "A commit, 40 hexadecimal digits."
  }
}

variable "settings" {
  description = "Settings of single workers, by worker and variable: what has no default, and what shall differ from its default."
  type        = map(map(string))
  nullable    = false

  validation {
    condition     = alltrue([for name in keys(var.settings) : contains(keys(var.workers), name)])
    error_message = "Settings are given to a worker that there is not: ${join(", ", setsubtract(keys(var.settings), keys(var.workers)))}."
  }

  validation {
    condition = alltrue(flatten([
      for name, given in var.settings : [
        for variable in keys(given) : contains(concat(keys(try(var.workers[name].settings, {})), try(var.workers[name].required_variables, [])), variable)
      ]
    ]))
    error_message = "A setting is given that its worker does not know, or that is a secret: see the worker's .env.example for the names."
  }

  validation {
    condition = alltrue(flatten([
      for name, worker in var.workers : [
        for variable in worker.required_variables : contains(keys(merge(var.shared_settings, lookup(var.settings, name, {}))), variable)
      ]
    ]))
    error_message = "A setting without a default is not given: ${join(", ", flatten([for name, worker in var.workers : [for variable in worker.required_variables : "${name}'s ${variable}" if !contains(keys(merge(var.shared_settings, lookup(var.settings, name, {}))), variable)]]))}."
  }
}

variable "shared_settings" {
  description = "Settings of all programs, by variable; every one of them must know each."
  type        = map(string)
  nullable    = false

  validation {
    condition = alltrue(flatten([
      for program in concat(values(var.workers), [{ settings = var.migration.settings, required_variables = var.migration.required_variables }]) : [
        for variable in keys(var.shared_settings) : contains(concat(keys(program.settings), program.required_variables), variable)
      ]
    ]))
    error_message = "A shared setting is not known to every program, or is a secret."
  }
}

variable "optional_secrets" {
  description = "Settings that are secrets and may be left out, by field name, which this environment has: sentry_dsn, for example. Each must have a value before it stands here."
  type        = set(string)
  nullable    = false
}

variable "desired_counts" {
  description = "How many tasks of each worker run while nothing scales them; 1 where a worker is not named."
  type        = map(number)
  nullable    = false
}

variable "paused" {
  description = "Whether no worker runs: before secrets have values, while a role is restored, and where nobody works at night (a cost switch)."
  type        = bool
  nullable    = false
}

variable "autoscaling_enabled" {
  description = "The root switch: whether scaling policies own the numbers of tasks."
  type        = bool
  nullable    = false
}

variable "scaling" {
  description = "Between which numbers of tasks each worker scales, and at which share of CPU in percent."
  type = object({
    min_tasks          = number
    max_tasks          = number
    target_cpu_percent = number
  })
  nullable = false
}

variable "use_spot" {
  description = "Whether workers run on spare capacity (a cost switch): a third of the price, ended with two minutes' notice."
  type        = bool
  nullable    = false
}

variable "collector_image" {
  description = "The OpenTelemetry collector (AWS distribution) that carries the workers' metrics to CloudWatch, by digest."
  type        = string
  nullable    = false
}
