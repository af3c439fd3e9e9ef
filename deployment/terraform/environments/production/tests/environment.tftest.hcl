# The whole environment without a cloud. Needs workers.auto.tfvars.json beside main.tf:
# python -m headrace.tools.terraform_inputs --unbuilt --output deployment/terraform/environments/production/workers.auto.tfvars.json

mock_provider "aws" {
  source = "../../mocks"
}

variables {
  region             = "eu-central-1"
  account_id         = "111111111111"
  registry           = "222222222222.dkr.ecr.eu-central-1.amazonaws.com/headrace"
  release            = "0123456789abcdef0123456789abcdef01234567"
  availability_zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
  alarm_emails       = ["on-call@example.com"]
  collector_image    = "public.ecr.aws/aws-observability/aws-otel-collector@sha256:2222222222222222222222222222222222222222222222222222222222222222"
}

run "everything_is_made_and_said" {
  assert {
    condition     = toset(keys(output.service_names)) == toset(keys(var.workers))
    error_message = "Expected a service for each worker."
  }

  assert {
    condition     = output.database.url == "postgresql://mocked.rds.amazonaws.com:5432/headrace"
    error_message = "Expected the database's URL without a login."
  }
}

run "the_queue_moves_to_a_server_restored_from_backups" {
  variables {
    paused         = true
    queue_database = { instance_class = "db.m7g.large", restore_time = "2030-01-31T12:00:00Z" }
  }

  assert {
    condition     = contains(output.secret_names, "headrace/production/database_queue_url")
    error_message = "Expected the queue role's URL as a secret of its own."
  }
}
