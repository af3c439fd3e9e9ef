# What the task is made of; the module `task` says which values cannot be.

variable "name" {
  description = "The worker's name."
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
}

variable "image" {
  description = "What runs, by digest: REGISTRY/NAME@sha256:..."
  type        = string
  nullable    = false
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

variable "environment" {
  description = "Variables of the program with their values; no secrets."
  type        = map(string)
  nullable    = false
}

variable "secrets" {
  description = "Variables of the program with the ARN of the secret that each is filled from; never a value."
  type        = map(string)
  nullable    = false
}

variable "required_variables" {
  description = "Variables that the program cannot start without; the module `task` refuses when one is not told."
  type        = list(string)
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
}

variable "stop_timeout_seconds" {
  description = "How long the platform waits between SIGTERM and SIGKILL, in seconds."
  type        = number
  nullable    = false
}

variable "drain_seconds" {
  description = "How long the program itself takes at most to stop in good order, in seconds."
  type        = number
  nullable    = false
}

variable "health_check" {
  description = "The command that exits with 0 while the program is well, in ECS' exec form."
  type        = list(string)
  nullable    = false
}

variable "metrics_port" {
  description = "Where the program serves its metrics."
  type        = number
  nullable    = false
}

variable "collector_image" {
  description = "The OpenTelemetry collector (AWS distribution) that reads the metrics, by digest."
  type        = string
  nullable    = false
}
