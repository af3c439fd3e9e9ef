variable "name" {
  description = "The server's name, and the beginning of what belongs to it."
  type        = string
  nullable    = false
}

variable "account_id" {
  description = "The account that the server is in, 12 digits."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "The network of the server's security group."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets, in two zones or more."
  type        = list(string)
  nullable    = false
}

variable "client_security_group_ids" {
  description = "The groups that may connect, by the client's name."
  type        = map(string)
  nullable    = false
}

variable "major_version" {
  description = "PostgreSQL's major version, 15 or later; minor ones are installed in the maintenance window."
  type        = string
  default     = "17"
  nullable    = false

  validation {
    condition     = can(tonumber(var.major_version)) && try(tonumber(var.major_version) >= 15, false)
    error_message = "A major version alone, 15 or later."
  }
}

variable "database_name" {
  description = "The database that is made."
  type        = string
  default     = "headrace"
  nullable    = false
}

variable "instance_class" {
  description = "The server's size, such as db.t4g.small."
  type        = string
  nullable    = false
}

variable "storage_gib" {
  description = "Storage to begin with, in GiB; it grows by itself to four times that."
  type        = number
  nullable    = false

  validation {
    condition     = var.storage_gib >= 20
    error_message = "gp3 begins at 20 GiB."
  }
}

variable "multi_az" {
  description = "Whether a standby in another zone takes over when this one fails; doubles the price."
  type        = bool
  nullable    = false
}

variable "backup_retention_days" {
  description = "How far back any moment can be restored, in days."
  type        = number
  nullable    = false

  validation {
    condition     = var.backup_retention_days >= 1 && var.backup_retention_days <= 35
    error_message = "1 to 35 days: without backups nothing can be restored."
  }
}

variable "deletion_protection" {
  description = "Whether deleting is refused until this is turned off and applied."
  type        = bool
  nullable    = false
}

variable "restore" {
  description = "Makes the server from another one's backups, at a moment (RFC 3339, UTC); null makes an empty one."
  type = object({
    source_identifier = string
    time              = string
  })
  default = null

  validation {
    condition     = var.restore == null || can(formatdate("YYYY", var.restore.time))
    error_message = "The time is written as 2030-01-31T12:00:00Z."
  }
}

variable "kms_key_arn" {
  description = "The environment's key; encrypts storage, backups, logs and the administrator's password."
  type        = string
  nullable    = false
}

variable "log_retention_days" {
  description = "How long the server's logs are kept, in days; a number that CloudWatch offers."
  type        = number
  nullable    = false

  validation {
    condition     = var.log_retention_days > 0
    error_message = "Logs are kept for a time and not for ever."
  }
}

variable "alarm_topic_arn" {
  description = "The environment's topic for alarms."
  type        = string
  nullable    = false
}
