# Staging: where a commit is built and first runs. Small; its registry serves production too.

locals {
  environment_name = "staging"
  registry         = "${var.account_id}.dkr.ecr.${var.region}.amazonaws.com/headrace"
}

module "registry" {
  source = "../../modules/registry"

  images             = toset([for program in concat(values(var.workers), [var.migration]) : program.image.name])
  kms_key_arn        = module.platform.kms_key_arn
  reader_account_ids = var.production_account_id == var.account_id ? [] : [var.production_account_id]
}

module "platform" {
  source = "../../modules/platform"

  environment_name     = local.environment_name
  region               = var.region
  account_id           = var.account_id
  registry             = local.registry
  release              = var.release
  workers              = var.workers
  migration            = var.migration
  settings             = var.settings
  shared_settings      = var.shared_settings
  optional_secrets     = var.optional_secrets
  extra_secrets        = var.extra_secrets
  database_authorities = var.database_authorities
  collector_image      = var.collector_image
  alarm_emails         = var.alarm_emails
  paused               = var.paused
  autoscaling_enabled  = var.autoscaling_enabled
  desired_counts       = var.desired_counts
  scaling              = var.scaling
  queue_database       = var.queue_database
  use_spot             = true
  log_retention_days   = 30

  network = {
    cidr               = var.cidr
    availability_zones = var.availability_zones
    single_nat_gateway = true
  }
  database = {
    instance_class        = "db.t4g.small"
    storage_gib           = 20
    multi_az              = false
    backup_retention_days = 7
    deletion_protection   = false
  }
  cache = {
    node_type               = "cache.t4g.micro"
    num_nodes               = 1
    snapshot_retention_days = 1
  }
}
