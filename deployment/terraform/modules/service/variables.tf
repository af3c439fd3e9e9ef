variable "cluster_arn" {
  description = "The cluster that the service runs in."
  type        = string
  nullable    = false
}

variable "cluster_name" {
  description = "The cluster's name, for metrics and scaling."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "The network of the worker's security group."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets to run in."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.subnet_ids) >= 2
    error_message = "Two subnets or more, in different zones, so that a zone may fail."
  }
}

variable "alarm_topic_arn" {
  description = "The environment's topic for alarms."
  type        = string
  nullable    = false
}

variable "desired_count" {
  description = "How many tasks run while nothing scales them, within a minute of the apply; 0 pauses the worker."
  type        = number
  nullable    = false

  validation {
    condition     = var.desired_count >= 0 && floor(var.desired_count) == var.desired_count
    error_message = "A whole number of tasks, 0 or more."
  }
}

variable "autoscaling_enabled" {
  description = "Whether the number of tasks follows the CPU; the service stays the same one."
  type        = bool
  nullable    = false
}

variable "scaling" {
  description = "Between which numbers of tasks to scale, and at which share of CPU in percent; read when autoscaling is on."
  type = object({
    min_tasks          = number
    max_tasks          = number
    target_cpu_percent = number
  })
  nullable = false

  validation {
    condition     = 0 <= var.scaling.min_tasks && var.scaling.min_tasks <= var.scaling.max_tasks
    error_message = "min_tasks is 0 or more and at most max_tasks."
  }

  validation {
    condition     = 10 <= var.scaling.target_cpu_percent && var.scaling.target_cpu_percent <= 90
    error_message = "target_cpu_percent is 10 to 90: outside of that it never scales out, or never in."
  }
}

variable "capacity_provider" {
  description = "FARGATE, or FARGATE_SPOT for a third of the price: a task may end with two minutes' notice, which a worker survives."
  type        = string
  nullable    = false

  validation {
    condition     = contains(["FARGATE", "FARGATE_SPOT"], var.capacity_provider)
    error_message = "FARGATE or FARGATE_SPOT."
  }
}

variable "wait_for_steady_state" {
  description = "Whether an apply ends only when the rollout has, and fails when it was rolled back."
  type        = bool
  nullable    = false
}
