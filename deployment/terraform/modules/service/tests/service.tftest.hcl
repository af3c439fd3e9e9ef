# What every worker's service is held to. Runs without a cloud: terraform init -backend=false && terraform test.

mock_provider "aws" {
  source = "../../mocks"
}

variables {
  name                  = "shipment-notifier"
  environment_name      = "staging"
  region                = "eu-central-1"
  account_id            = "111111111111"
  cluster_arn           = "arn:aws:ecs:eu-central-1:111111111111:cluster/headrace-staging"
  cluster_name          = "headrace-staging"
  vpc_id                = "vpc-1"
  subnet_ids            = ["subnet-1", "subnet-2"]
  image                 = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/headrace/headrace-shipment-notifier@sha256:1111111111111111111111111111111111111111111111111111111111111111"
  repository_arn        = "arn:aws:ecr:eu-central-1:111111111111:repository/headrace/headrace-shipment-notifier"
  entrypoint            = ["headrace-shipment-notifier"]
  command               = ["serve"]
  cpu                   = 256
  memory                = 512
  environment           = { HEADRACE_ENVIRONMENT = "staging" }
  secrets               = { HEADRACE_DATABASE_URL = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:database_url" }
  required_variables    = ["HEADRACE_DATABASE_URL", "HEADRACE_ENVIRONMENT"]
  kms_key_arn           = "arn:aws:kms:eu-central-1:111111111111:key/1"
  log_retention_days    = 30
  stop_timeout_seconds  = 30
  drain_seconds         = 23
  health_check          = ["CMD", "headrace-shipment-notifier", "healthcheck"]
  metrics_port          = 9103
  collector_image       = "public.ecr.aws/aws-observability/aws-otel-collector@sha256:2222222222222222222222222222222222222222222222222222222222222222"
  alarm_topic_arn       = "arn:aws:sns:eu-central-1:111111111111:alarms"
  desired_count         = 2
  autoscaling_enabled   = false
  scaling               = { min_tasks = 1, max_tasks = 4, target_cpu_percent = 60 }
  capacity_provider     = "FARGATE"
  wait_for_steady_state = true
}

run "a_rollout_never_exceeds_the_desired_count_and_goes_back_by_itself" {
  command = plan

  assert {
    condition     = aws_ecs_service.this.deployment_maximum_percent == 100 && aws_ecs_service.this.deployment_minimum_healthy_percent == 0
    error_message = "Expected a rollout between 0 and 100 percent of the desired count."
  }

  assert {
    condition     = alltrue([for breaker in aws_ecs_service.this.deployment_circuit_breaker : breaker.enable && breaker.rollback]) && length(aws_ecs_service.this.deployment_circuit_breaker) == 1
    error_message = "Expected a circuit breaker that rolls back."
  }

  assert {
    condition     = length(aws_ecs_service.this.load_balancer) == 0
    error_message = "Expected no load balancer: nobody calls a worker."
  }
}

run "a_missing_task_is_told_on_the_topic" {
  command = plan

  assert {
    condition     = aws_cloudwatch_metric_alarm.running_below_desired.alarm_actions == toset([var.alarm_topic_arn]) && aws_cloudwatch_metric_alarm.running_below_desired.treat_missing_data == "breaching"
    error_message = "Expected an alarm on the environment's topic, also when nothing is known."
  }
}

run "the_count_is_the_variables_while_nothing_scales" {
  assert {
    condition     = aws_ecs_service.this.desired_count == 2 && aws_appautoscaling_target.this.min_capacity == 2 && aws_appautoscaling_target.this.max_capacity == 2
    error_message = "Expected as many tasks as the variable says, and no room to scale in."
  }

  assert {
    condition     = length(aws_appautoscaling_policy.cpu) == 0
    error_message = "Expected no policy while the switch is off."
  }
}

# From here on each run starts from the state of the one before.
run "another_count_is_brought_about_by_what_owns_it" {
  command = plan

  variables {
    desired_count = 5
  }

  assert {
    condition     = aws_ecs_service.this.name == "shipment-notifier" && aws_ecs_service.this.desired_count == 2
    error_message = "Expected the service to be left alone."
  }

  assert {
    condition     = [for bounds in aws_appautoscaling_scheduled_action.bounds.scalable_target_action : [bounds.min_capacity, bounds.max_capacity]] == [["5", "5"]]
    error_message = "Expected the count to be held at what the variable says."
  }
}

run "turning_scaling_on_keeps_the_service_and_its_count" {
  command = plan

  variables {
    autoscaling_enabled = true
  }

  assert {
    condition     = aws_ecs_service.this.name == "shipment-notifier" && aws_ecs_service.this.desired_count == 2
    error_message = "Expected the service to be left alone."
  }

  assert {
    condition     = aws_appautoscaling_target.this.min_capacity == 1 && aws_appautoscaling_target.this.max_capacity == 4
    error_message = "Expected room between min_tasks and max_tasks."
  }

  assert {
    condition     = [for bounds in aws_appautoscaling_scheduled_action.bounds.scalable_target_action : [bounds.min_capacity, bounds.max_capacity]] == [["1", "4"]]
    error_message = "Expected the bounds that are held to be the policy's."
  }

  assert {
    condition     = aws_appautoscaling_policy.cpu[0].policy_type == "TargetTrackingScaling"
    error_message = "Expected target tracking."
  }
}

run "scaling_is_on" {
  variables {
    autoscaling_enabled = true
  }
}

run "turning_scaling_off_keeps_the_service_and_gives_the_variable_back_its_say" {
  command = plan

  assert {
    condition     = aws_ecs_service.this.name == "shipment-notifier" && aws_ecs_service.this.desired_count == 2
    error_message = "Expected the service to be left alone."
  }

  assert {
    condition     = aws_appautoscaling_target.this.max_capacity == 2 && length(aws_appautoscaling_policy.cpu) == 0
    error_message = "Expected the variable's count and no policy."
  }
}

run "a_paused_worker_runs_nowhere" {
  command = plan

  variables {
    desired_count = 0
  }

  assert {
    condition     = aws_appautoscaling_target.this.max_capacity == 0
    error_message = "Expected no room for any task."
  }
}

run "two_subnets_are_asked_for" {
  command = plan

  variables {
    subnet_ids = ["subnet-1"]
  }

  expect_failures = [var.subnet_ids]
}

run "a_range_of_tasks_that_cannot_be_is_refused" {
  command = plan

  variables {
    scaling = { min_tasks = 5, max_tasks = 4, target_cpu_percent = 60 }
  }

  expect_failures = [var.scaling]
}
