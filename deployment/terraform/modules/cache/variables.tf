variable "name" {
  description = "The server's name, and the beginning of what belongs to it."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,38}[a-z0-9]$", var.name))
    error_message = "ElastiCache takes 2 to 40 lower-case letters, digits and hyphens, a letter first."
  }
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

variable "node_type" {
  description = "The size of each node, such as cache.t4g.micro."
  type        = string
  nullable    = false
}

variable "num_nodes" {
  description = "How many nodes hold the data, 1 to 6; with two or more another zone takes over."
  type        = number
  nullable    = false

  validation {
    condition     = var.num_nodes >= 1 && var.num_nodes <= 6
    error_message = "1 to 6 nodes."
  }
}

variable "snapshot_retention_days" {
  description = "How long daily snapshots are kept, in days."
  type        = number
  nullable    = false

  validation {
    condition     = var.snapshot_retention_days >= 1 && var.snapshot_retention_days <= 35
    error_message = "1 to 35 days."
  }
}

variable "kms_key_arn" {
  description = "The environment's key; encrypts what is stored and its snapshots."
  type        = string
  nullable    = false
}

variable "alarm_topic_arn" {
  description = "The environment's topic for alarms."
  type        = string
  nullable    = false
}
