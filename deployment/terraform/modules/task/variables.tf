variable "name" {
  description = "The program's name, a worker's or `migrate`."
  type        = string
  nullable    = false
}

variable "environment_name" {
  description = "The environment, `staging` or `production`."
  type        = string
  nullable    = false
}

variable "region" {
  description = "The region that logs and metrics go to."
  type        = string
  nullable    = false
}

variable "account_id" {
  description = "The account whose tasks may assume the roles, 12 digits."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "An account id has 12 digits."
  }
}

variable "image" {
  description = "What runs, by digest: REGISTRY/NAME@sha256:..."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[^@]+@sha256:[0-9a-f]{64}$", var.image)) && !can(regex(":[^/@]+@", var.image))
    error_message = "The image must be named by digest and without a tag, since a tag may be another image tomorrow."
  }
}

variable "repository_arn" {
  description = "The registry's repository that the image is pulled from."
  type        = string
  nullable    = false
}

variable "entrypoint" {
  description = "The program, found on the image's PATH."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.entrypoint) > 0
    error_message = "The entrypoint must name the program, so that it is the process that gets SIGTERM."
  }
}

variable "command" {
  description = "The program's arguments."
  type        = list(string)
  nullable    = false
}

variable "cpu" {
  description = "CPU shares of the task; 1024 is one core."
  type        = number
  nullable    = false
}

variable "memory" {
  description = "Memory of the task in MiB."
  type        = number
  nullable    = false
}

variable "kms_key_arn" {
  description = "The environment's key; encrypts the logs and the secrets."
  type        = string
  nullable    = false
}

variable "log_retention_days" {
  description = "How long logs are kept, in days; a number that CloudWatch offers."
  type        = number
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "CloudWatch keeps logs for 1, 3, 5, 7, 14, 30, 60, 90 ... 3653 days; 0, for ever, is not wanted."
  }
}

variable "stop_timeout_seconds" {
  description = "How long the platform waits between SIGTERM and SIGKILL, in seconds."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = var.stop_timeout_seconds >= 2 && var.stop_timeout_seconds <= 120
    error_message = "Fargate waits 2 to 120 seconds."
  }
}

variable "drain_seconds" {
  description = "How long the program itself takes at most to stop in good order, in seconds."
  type        = number
  default     = 0
  nullable    = false
}

variable "health_check" {
  description = "The command that exits with 0 while the program is well, in ECS' exec form; null for one that ends by itself."
  type        = list(string)
  default     = null
}

variable "metrics_port" {
  description = "Where the program serves its metrics; null for one that serves none, which then gets no collector."
  type        = number
  default     = null
}

variable "collector_image" {
  description = "The OpenTelemetry collector (AWS distribution) that reads the metrics, by digest; needed with a metrics port."
  type        = string
  default     = null

  validation {
    condition     = var.collector_image == null ? var.metrics_port == null : can(regex("^[^@]+@sha256:[0-9a-f]{64}$", var.collector_image))
    error_message = "The collector's image must be named by digest wherever there is a metrics port."
  }
}
