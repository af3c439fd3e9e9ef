# What brings the schemas up to date, as a task that the deploying workflow runs before it applies.

locals {
  repository_arns = {
    for name in keys(local.images) : name => "arn:aws:ecr:${split(".", var.registry)[3]}:${split(".", var.registry)[0]}:repository/${split("/", var.registry)[1]}/${name}"
  }
}

module "migration" {
  source = "../task"

  name             = "migrate"
  environment_name = var.environment_name
  region           = var.region
  account_id       = var.account_id
  image            = local.images[var.migration.image.name]
  repository_arn   = local.repository_arns[var.migration.image.name]
  entrypoint       = var.migration.entrypoint
  command          = var.migration.command
  cpu              = 256
  memory           = 512
  environment      = local.shared
  secrets = merge(
    { for variable, setting in var.migration.secrets : variable => aws_secretsmanager_secret.this[setting].arn },
    { for variable, setting in var.migration.optional_secrets : variable => aws_secretsmanager_secret.this[setting].arn if contains(local.optional, setting) },
  )
  required_variables = concat(var.migration.required_variables, keys(var.migration.secrets))
  kms_key_arn        = aws_kms_key.this.arn
  log_retention_days = var.log_retention_days
  # A migration that is half way is not to be killed at once: each revision is a transaction of its own.
  stop_timeout_seconds = 120
}

resource "aws_security_group" "migrate" {
  #checkov:skip=CKV2_AWS_5: the deploying workflow gives it to the task that it runs
  name        = "${local.name}-migrate"
  description = "The migration: it calls out and is never called."
  vpc_id      = module.network.vpc_id
}

resource "aws_vpc_security_group_egress_rule" "migrate" {
  security_group_id = aws_security_group.migrate.id
  description       = "PostgreSQL, the registry, secrets and logs"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}
