# Production: runs what staging has run, by the same digest. Two zones may differ in everything and the work goes on.

locals {
  environment_name = "production"
}

module "platform" {
  source = "../../modules/platform"

  environment_name     = local.environment_name
  region               = var.region
  account_id           = var.account_id
  registry             = var.registry
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
  use_spot             = false
  log_retention_days   = 365

  network = {
    cidr               = var.cidr
    availability_zones = var.availability_zones
    single_nat_gateway = false
  }
  database = {
    instance_class        = "db.m7g.large"
    storage_gib           = 100
    multi_az              = true
    backup_retention_days = 35
    deletion_protection   = true
  }
  cache = {
    node_type               = "cache.m7g.large"
    num_nodes               = 2
    snapshot_retention_days = 7
  }
}
