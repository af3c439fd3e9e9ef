# What every task is held to. Runs without a cloud: terraform init -backend=false && terraform test.

mock_provider "aws" {
  source = "../../mocks"
}

variables {
  name                 = "shipment-notifier"
  environment_name     = "staging"
  region               = "eu-central-1"
  account_id           = "111111111111"
  image                = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/headrace/headrace-shipment-notifier@sha256:1111111111111111111111111111111111111111111111111111111111111111"
  repository_arn       = "arn:aws:ecr:eu-central-1:111111111111:repository/headrace/headrace-shipment-notifier"
  entrypoint           = ["headrace-shipment-notifier"]
  command              = ["serve"]
  cpu                  = 256
  memory               = 512
  environment          = { HEADRACE_ENVIRONMENT = "staging" }
  secrets              = { HEADRACE_DATABASE_URL = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:database_url" }
  required_variables   = ["HEADRACE_DATABASE_URL", "HEADRACE_ENVIRONMENT"]
  kms_key_arn          = "arn:aws:kms:eu-central-1:111111111111:key/1"
  log_retention_days   = 30
  stop_timeout_seconds = 30
  drain_seconds        = 23
  health_check         = ["CMD", "headrace-shipment-notifier", "healthcheck"]
  metrics_port         = 9103
  collector_image      = "public.ecr.aws/aws-observability/aws-otel-collector@sha256:2222222222222222222222222222222222222222222222222222222222222222"
}

run "the_program_runs_as_nobody_on_a_root_that_cannot_be_written" {
  assert {
    condition = alltrue([
      for container in jsondecode(aws_ecs_task_definition.this.container_definitions) :
      container.readonlyRootFilesystem && !container.privileged && container.linuxParameters.initProcessEnabled && container.linuxParameters.capabilities.drop == ["ALL"]
    ])
    error_message = "Expected every container read-only, unprivileged, without capabilities and with an init process."
  }

  assert {
    condition     = jsondecode(aws_ecs_task_definition.this.container_definitions)[0].user == "65532:65532"
    error_message = "Expected the program to run as uid 65532."
  }
}

run "the_program_is_asked_how_it_is_and_given_time_to_stop" {
  assert {
    condition     = jsondecode(aws_ecs_task_definition.this.container_definitions)[0].healthCheck.command == ["CMD", "headrace-shipment-notifier", "healthcheck"]
    error_message = "Expected the probe to be the program's own subcommand."
  }

  assert {
    condition     = jsondecode(aws_ecs_task_definition.this.container_definitions)[0].stopTimeout == 30
    error_message = "Expected the stop timeout as given."
  }
}

run "a_secret_reaches_the_program_by_its_arn_and_its_role_reads_no_other" {
  assert {
    condition     = jsondecode(aws_ecs_task_definition.this.container_definitions)[0].secrets == [{ name = "HEADRACE_DATABASE_URL", valueFrom = var.secrets["HEADRACE_DATABASE_URL"] }]
    error_message = "Expected the secret's ARN in the task definition."
  }

  assert {
    condition     = [for statement in jsondecode(aws_iam_role_policy.execution.policy).Statement : statement.Resource if statement.Sid == "ReadSecrets"] == [[var.secrets["HEADRACE_DATABASE_URL"]]]
    error_message = "Expected the role to read this secret alone."
  }
}

run "logs_end_one_day" {
  assert {
    condition     = aws_cloudwatch_log_group.this.retention_in_days == 30 && aws_cloudwatch_log_group.this.kms_key_id == var.kms_key_arn
    error_message = "Expected an encrypted log group that keeps its lines for a time."
  }
}

run "an_image_by_tag_is_refused" {
  command = plan

  variables {
    image = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/headrace/headrace-shipment-notifier:latest"
  }

  expect_failures = [var.image]
}

run "an_image_by_tag_and_digest_is_refused" {
  command = plan

  variables {
    image = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/headrace/x:latest@sha256:1111111111111111111111111111111111111111111111111111111111111111"
  }

  expect_failures = [var.image]
}

run "a_secrets_value_is_refused" {
  command = plan

  variables {
    secrets = { HEADRACE_DATABASE_URL = "postgresql://u:secret@host/x" }
  }

  expect_failures = [var.secrets]
}

run "logs_for_ever_are_refused" {
  command = plan

  variables {
    log_retention_days = 0
  }

  expect_failures = [var.log_retention_days]
}

run "a_stop_before_the_drain_has_ended_is_refused" {
  command = plan

  variables {
    drain_seconds = 30
  }

  expect_failures = [aws_ecs_task_definition.this]
}

run "a_stop_that_the_platform_does_not_grant_is_refused" {
  command = plan

  variables {
    stop_timeout_seconds = 121
  }

  expect_failures = [var.stop_timeout_seconds]
}

run "a_collector_by_tag_is_refused" {
  command = plan

  variables {
    collector_image = "public.ecr.aws/aws-observability/aws-otel-collector:latest"
  }

  expect_failures = [var.collector_image]
}

run "a_program_that_serves_nothing_gets_no_collector_and_no_right" {
  variables {
    metrics_port    = null
    collector_image = null
    health_check    = null
  }

  assert {
    condition     = length(jsondecode(aws_ecs_task_definition.this.container_definitions)) == 1 && length(aws_iam_role_policy.task) == 0
    error_message = "Expected one container, and a role that may nothing."
  }
}

run "a_program_that_is_not_told_what_it_needs_is_refused" {
  command = plan

  variables {
    required_variables = ["HEADRACE_DATABASE_URL", "HEADRACE_CARRIER"]
  }

  expect_failures = [aws_ecs_task_definition.this]
}
