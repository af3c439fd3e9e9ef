# What runs of one program: its task definition, its log group, its two roles. No service and no count.

locals {
  container = {
    name                   = "program"
    image                  = var.image
    essential              = true
    entryPoint             = var.entrypoint
    command                = var.command
    user                   = "65532:65532"
    readonlyRootFilesystem = true
    privileged             = false
    stopTimeout            = var.stop_timeout_seconds
    environment            = [for name in sort(keys(var.environment)) : { name = name, value = var.environment[name] }]
    secrets                = [for name in sort(keys(var.secrets)) : { name = name, valueFrom = var.secrets[name] }]
    portMappings           = [for port in var.metrics_port[*] : { containerPort = port, hostPort = port, protocol = "tcp" }]
    mountPoints            = [{ sourceVolume = "tmp", containerPath = "/tmp", readOnly = false }]
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"] } }
    logConfiguration       = local.logs["program"]
  }
  probe = var.health_check == null ? {} : {
    healthCheck = { command = var.health_check, interval = 30, timeout = 10, retries = 3, startPeriod = 60 }
  }
  logs = {
    for stream in ["program", "metrics"] : stream => {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this.name
        awslogs-region        = var.region
        awslogs-stream-prefix = stream
        # A log that cannot be written must not hold up the work.
        mode            = "non-blocking"
        max-buffer-size = "4m"
      }
    }
  }
  # From what the container will see, so that nothing can be lost on the way there.
  told       = concat(local.container.environment[*].name, local.container.secrets[*].name)
  containers = concat([merge(local.container, local.probe)], local.collector)
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338: how long logs are kept is a cost switch of the environment; production keeps a year
  name              = "/headrace/${var.environment_name}/${var.name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn
}

resource "aws_ecs_task_definition" "this" {
  family                   = "headrace-${var.environment_name}-${var.name}"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = var.cpu
  memory                   = var.memory
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.task.arn
  container_definitions    = jsonencode(local.containers)

  runtime_platform {
    cpu_architecture        = "X86_64"
    operating_system_family = "LINUX"
  }

  # The only place that can be written to; it goes with the task.
  volume {
    name = "tmp"
  }

  lifecycle {
    precondition {
      condition     = length(setsubtract(var.required_variables, local.told)) == 0
      error_message = "${var.name} cannot start: it is not told ${join(", ", setsubtract(var.required_variables, local.told))}."
    }

    precondition {
      condition     = var.health_check == null || var.stop_timeout_seconds > var.drain_seconds
      error_message = "${var.name}: the stop timeout (${var.stop_timeout_seconds} s) must be above the time that the worker takes to stop (${var.drain_seconds} s)."
    }
  }
}
