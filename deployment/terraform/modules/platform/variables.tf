variable "environment_name" {
  description = "The environment, as the programs know it."
  type        = string
  nullable    = false

  validation {
    condition     = contains(["staging", "production"], var.environment_name)
    error_message = "staging or production: the programs know no other environment in the cloud."
  }
}

variable "region" {
  description = "The region that everything is in."
  type        = string
  nullable    = false
}

variable "account_id" {
  description = "The account that everything is in, 12 digits; given rather than looked up, so that a plan needs no cloud."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "An account id has 12 digits."
  }
}

variable "registry" {
  description = "Where images are pulled from: ACCOUNT.dkr.ecr.REGION.amazonaws.com/PREFIX."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]{12}\\.dkr\\.ecr\\.[a-z0-9-]+\\.amazonaws\\.com/[a-z0-9][a-z0-9/_-]*$", var.registry))
    error_message = "ACCOUNT.dkr.ecr.REGION.amazonaws.com/PREFIX."
  }
}

variable "network" {
  description = "The network's addresses, its zones, and whether one NAT gateway serves all of them (a cost switch)."
  type = object({
    cidr               = string
    availability_zones = list(string)
    single_nat_gateway = bool
  })
  nullable = false
}

variable "database" {
  description = "The PostgreSQL server: size, storage in GiB, a standby (a cost switch), backups in days, whether it may be deleted."
  type = object({
    instance_class        = string
    storage_gib           = number
    multi_az              = bool
    backup_retention_days = number
    deletion_protection   = bool
  })
  nullable = false
}

variable "queue_database" {
  description = "A server of its own for the queue role: its size, a moment (RFC 3339, UTC) to restore the shared server's backups from or null for an empty one, and the end of its name. Null keeps the queue on the shared server."
  type = object({
    instance_class = string
    restore_time   = optional(string)
    suffix         = optional(string, "queue")
  })
  default = null
}

variable "cache" {
  description = "The Redis-compatible server: size and number of its nodes, snapshots in days."
  type = object({
    node_type               = string
    num_nodes               = number
    snapshot_retention_days = number
  })
  nullable = false
}

variable "log_retention_days" {
  description = "How long every log is kept, in days; a number that CloudWatch offers."
  type        = number
  nullable    = false
}

variable "alarm_emails" {
  description = "Who is written to when something is wrong; each confirms once."
  type        = set(string)
  nullable    = false
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
