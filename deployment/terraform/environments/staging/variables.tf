variable "region" {
  description = "The region that everything is in."
  type        = string
  nullable    = false
}

variable "account_id" {
  description = "The account that this environment is in, 12 digits."
  type        = string
  nullable    = false
}

variable "release" {
  description = "The commit that the images were built from."
  type        = string
  nullable    = false
}

variable "production_account_id" {
  description = "The account that production is in; it pulls from this registry."
  type        = string
  nullable    = false
}

variable "cidr" {
  description = "The network's addresses."
  type        = string
  default     = "10.20.0.0/16"
  nullable    = false
}

variable "availability_zones" {
  description = "The zones of the region to use."
  type        = list(string)
  nullable    = false
}

variable "collector_image" {
  description = "The OpenTelemetry collector (AWS distribution), by digest; the README says how to find it."
  type        = string
  nullable    = false
}

variable "alarm_emails" {
  description = "Who is written to when something is wrong."
  type        = set(string)
  nullable    = false
}

variable "paused" {
  description = "Whether no worker runs; true for the very first apply, since secrets have no values yet."
  type        = bool
  default     = false
  nullable    = false
}

variable "autoscaling_enabled" {
  description = "The root switch: whether scaling policies own the numbers of tasks."
  type        = bool
  default     = false
  nullable    = false
}

variable "desired_counts" {
  description = "How many tasks of each worker run while nothing scales them; 1 where a worker is not named."
  type        = map(number)
  default     = {}
  nullable    = false
}

variable "scaling" {
  description = "Between which numbers of tasks each worker scales, and at which share of CPU in percent."
  type = object({
    min_tasks          = number
    max_tasks          = number
    target_cpu_percent = number
  })
  default  = { min_tasks = 1, max_tasks = 2, target_cpu_percent = 60 }
  nullable = false
}

variable "settings" {
  description = "Settings of single workers, by worker and variable."
  type        = map(map(string))
  default     = {}
  nullable    = false
}

variable "shared_settings" {
  description = "Settings of all programs, by variable."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "optional_secrets" {
  description = "Settings that are secrets and may be left out, by field name, which have a value here."
  type        = set(string)
  default     = []
  nullable    = false
}

variable "queue_database" {
  description = "A server of its own for the queue role; see the README, restoring."
  type = object({
    instance_class = string
    restore_time   = optional(string)
    suffix         = optional(string, "queue")
  })
  default = null
}

variable "extra_secrets" {
  description = "Secrets that a worker's records refer to, such as orgs' signing secrets: by worker and variable (HEADRACE_SECRET_...), the ARN of a secret under the environment's key."
  type        = map(map(string))
  default     = {}
  nullable    = false
}

variable "database_authorities" {
  description = "Where images keep the bundle of authorities that the database's certificate is verified against, a path; null encrypts without verifying."
  type        = string
  default     = null
}
