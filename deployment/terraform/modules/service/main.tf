# One worker as an ECS service: no load balancer and no route, since nobody calls a worker.

locals {
  full_name = "headrace-${var.environment_name}-${var.name}"
}

module "task" {
  source = "../task"

  name                 = var.name
  environment_name     = var.environment_name
  region               = var.region
  account_id           = var.account_id
  image                = var.image
  repository_arn       = var.repository_arn
  entrypoint           = var.entrypoint
  command              = var.command
  cpu                  = var.cpu
  memory               = var.memory
  environment          = var.environment
  secrets              = var.secrets
  required_variables   = var.required_variables
  kms_key_arn          = var.kms_key_arn
  log_retention_days   = var.log_retention_days
  stop_timeout_seconds = var.stop_timeout_seconds
  drain_seconds        = var.drain_seconds
  health_check         = var.health_check
  metrics_port         = var.metrics_port
  collector_image      = var.collector_image
}

# Nothing comes in: no ingress rule is made anywhere for this group.
resource "aws_security_group" "this" {
  name        = local.full_name
  description = "The worker ${var.name}: it calls out and is never called."
  vpc_id      = var.vpc_id
}

resource "aws_vpc_security_group_egress_rule" "all" {
  security_group_id = aws_security_group.this.id
  description       = "PostgreSQL, Redis, and whomever the handlers call"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

resource "aws_ecs_service" "this" {
  name            = var.name
  cluster         = var.cluster_arn
  task_definition = module.task.task_definition_arn
  # Where it begins; from then on the count is for what scaling.tf makes to decide.
  desired_count                      = local.tasks.min
  deployment_minimum_healthy_percent = 0
  deployment_maximum_percent         = 100
  availability_zone_rebalancing      = "DISABLED"
  enable_execute_command             = false
  propagate_tags                     = "SERVICE"
  wait_for_steady_state              = var.wait_for_steady_state

  capacity_provider_strategy {
    capacity_provider = var.capacity_provider
    weight            = 1
  }

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets          = var.subnet_ids
    security_groups  = [aws_security_group.this.id]
    assign_public_ip = false
  }

  lifecycle {
    ignore_changes = [desired_count]
  }
}
