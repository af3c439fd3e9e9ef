# What an environment refuses. Runs without a cloud: terraform init -backend=false && terraform test.

mock_provider "aws" {
  source = "../../mocks"
}

variables {
  environment_name    = "staging"
  region              = "eu-central-1"
  account_id          = "111111111111"
  registry            = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/headrace"
  release             = "0123456789abcdef0123456789abcdef01234567"
  alarm_emails        = []
  log_retention_days  = 30
  paused              = false
  autoscaling_enabled = false
  desired_counts      = {}
  scaling             = { min_tasks = 1, max_tasks = 4, target_cpu_percent = 60 }
  use_spot            = false
  optional_secrets    = []
  shared_settings     = {}
  settings            = { shipment-notifier = { HEADRACE_SHIPMENT_NOTIFIER_CARRIER = "swift" } }
  collector_image     = "public.ecr.aws/aws-observability/aws-otel-collector@sha256:2222222222222222222222222222222222222222222222222222222222222222"
  network             = { cidr = "10.20.0.0/16", availability_zones = ["eu-central-1a", "eu-central-1b"], single_nat_gateway = true }
  database            = { instance_class = "db.t4g.small", storage_gib = 20, multi_az = false, backup_retention_days = 7, deletion_protection = false }
  cache               = { node_type = "cache.t4g.micro", num_nodes = 1, snapshot_retention_days = 1 }
  migration = {
    image              = { name = "headrace-console", digest = "sha256:3333333333333333333333333333333333333333333333333333333333333333" }
    entrypoint         = ["headrace"]
    command            = ["migrate"]
    settings           = { HEADRACE_LEASE = "1m" }
    required_variables = []
    secrets            = { HEADRACE_DATABASE_URL = "database_url" }
    optional_secrets   = { HEADRACE_REDIS_URL = "redis_url" }
  }
  workers = {
    shipment-notifier = {
      image                = { name = "headrace-shipment-notifier", digest = "sha256:4444444444444444444444444444444444444444444444444444444444444444" }
      entrypoint           = ["headrace-shipment-notifier"]
      command              = ["serve"]
      settings             = { HEADRACE_LEASE = "1m", HEADRACE_CAPACITY = "10" }
      required_variables   = ["HEADRACE_SHIPMENT_NOTIFIER_CARRIER"]
      secrets              = { HEADRACE_DATABASE_URL = "database_url" }
      optional_secrets     = { HEADRACE_REDIS_URL = "redis_url", HEADRACE_SENTRY_DSN = "sentry_dsn" }
      kind                 = "NOTIFY_SHIPMENT"
      lane                 = "default"
      metrics_port         = 9103
      cpu                  = 256
      memory               = 512
      health_check         = ["CMD", "headrace-shipment-notifier", "healthcheck"]
      drain_seconds        = 23
      stop_timeout_seconds = 30
    }
  }
}

run "everything_fits" {
  command = plan

  assert {
    condition     = toset([for secret in aws_secretsmanager_secret.this : secret.name]) == toset(["headrace/staging/database_url", "headrace/staging/redis_url"])
    error_message = "Expected a secret for each setting that is one, and no other."
  }
}

run "an_optional_secret_that_the_environment_has_is_made" {
  command = plan

  variables {
    optional_secrets = ["sentry_dsn"]
  }

  assert {
    condition     = aws_secretsmanager_secret.this["sentry_dsn"].name == "headrace/staging/sentry_dsn"
    error_message = "Expected the secret to be made."
  }
}

run "a_setting_without_a_default_must_be_given" {
  command = plan

  variables {
    settings = {}
  }

  expect_failures = [var.settings]
}

run "a_setting_that_the_worker_does_not_know_is_refused" {
  command = plan

  variables {
    settings = { shipment-notifier = { HEADRACE_SHIPMENT_NOTIFIER_CARRIER = "swift", HEADRACE_LEASES = "1m" } }
  }

  expect_failures = [var.settings]
}

run "a_secret_among_the_settings_is_refused" {
  command = plan

  variables {
    settings = { shipment-notifier = { HEADRACE_SHIPMENT_NOTIFIER_CARRIER = "swift", HEADRACE_DATABASE_URL = "postgresql://u:secret@host/x" } }
  }

  expect_failures = [var.settings]
}

run "settings_of_a_worker_that_there_is_not_are_refused" {
  command = plan

  variables {
    settings = { shipment-notifier = { HEADRACE_SHIPMENT_NOTIFIER_CARRIER = "swift" }, shipment-courier = {} }
  }

  expect_failures = [var.settings]
}

run "a_shared_setting_that_some_program_does_not_know_is_refused" {
  command = plan

  variables {
    shared_settings = { HEADRACE_CAPACITY = "20" }
  }

  expect_failures = [var.shared_settings]
}

run "a_release_that_is_no_commit_is_refused" {
  command = plan

  variables {
    release = "latest"
  }

  expect_failures = [var.release]
}

run "another_environment_is_refused" {
  command = plan

  variables {
    environment_name = "test"
  }

  expect_failures = [var.environment_name]
}
