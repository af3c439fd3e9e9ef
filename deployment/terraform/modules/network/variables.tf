variable "name" {
  description = "Begins the name of everything in the network."
  type        = string
  nullable    = false
}

variable "region" {
  description = "The region that the network is in."
  type        = string
  nullable    = false
}

variable "account_id" {
  description = "The account that the network is in, 12 digits."
  type        = string
  nullable    = false
}

variable "cidr" {
  description = "The network's addresses, a /20 or larger; split into sixteen parts."
  type        = string
  nullable    = false

  validation {
    condition     = can(cidrsubnet(var.cidr, 4, 15)) && tonumber(split("/", var.cidr)[1]) <= 20
    error_message = "An IPv4 range of /20 or larger, such as 10.20.0.0/16: a sixteenth of it must hold a zone's tasks."
  }
}

variable "availability_zones" {
  description = "The zones to use, two to eight; given rather than looked up, so that a plan needs no cloud."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.availability_zones) >= 2 && length(var.availability_zones) <= 8 && length(distinct(var.availability_zones)) == length(var.availability_zones)
    error_message = "Two to eight different zones: servers stand in two of them, so that one may fail."
  }
}

variable "single_nat_gateway" {
  description = "Whether one NAT gateway serves every zone: cheaper, and nothing gets out when its zone fails."
  type        = bool
  nullable    = false
}

variable "kms_key_arn" {
  description = "The environment's key; encrypts the flow logs."
  type        = string
  nullable    = false
}

variable "log_retention_days" {
  description = "How long flow logs are kept, in days; a number that CloudWatch offers."
  type        = number
  nullable    = false

  validation {
    condition     = var.log_retention_days > 0
    error_message = "Logs are kept for a time and not for ever."
  }
}
