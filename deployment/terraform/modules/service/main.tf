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

# The count has one owner: Terraform here, the scaling policy in `scaled`. One of the two exists.
resource "aws_ecs_service" "fixed" {
  count = var.autoscaling_enabled ? 0 : 1

  name                               = var.name
  cluster                            = var.cluster_arn
  task_definition                    = module.task.task_definition_arn
  desired_count                      = var.desired_count
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
}

resource "aws_ecs_service" "scaled" {
  count = var.autoscaling_enabled ? 1 : 0

  # Another name, so that turning the switch can start the one before the other has drained.
  name                               = "${var.name}-scaled"
  cluster                            = var.cluster_arn
  task_definition                    = module.task.task_definition_arn
  desired_count                      = var.scaling.min_tasks
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
