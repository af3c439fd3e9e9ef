variable "environment_name" {
  description = "The environment, `staging` or `production`."
  type        = string
  nullable    = false
}

variable "account_id" {
  description = "The account whose alarms may speak on the topic, 12 digits."
  type        = string
  nullable    = false
}

variable "kms_key_arn" {
  description = "The environment's key; encrypts what is sent."
  type        = string
  nullable    = false
}

variable "emails" {
  description = "Who is written to; each confirms once."
  type        = set(string)
  nullable    = false
}

variable "oldest_waiting_seconds" {
  description = "How long the oldest due item may have waited, in seconds."
  type        = number
  default     = 300
  nullable    = false

  validation {
    condition     = var.oldest_waiting_seconds > 0
    error_message = "Above 0: every item waits for a moment."
  }
}

variable "outbox_lag_seconds" {
  description = "How long the oldest due outbox row may have waited, in seconds."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.outbox_lag_seconds > 0
    error_message = "Above 0: every row waits for a moment."
  }
}

variable "paused" {
  description = "Whether the workers are paused on purpose, so that nobody is called."
  type        = bool
  nullable    = false
}
