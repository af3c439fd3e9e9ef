# Everything of one environment: network, servers, the topic for alarms, and a service for each worker.

locals {
  name = "headrace-${var.environment_name}"
}

module "network" {
  source = "../network"

  name               = local.name
  region             = var.region
  account_id         = var.account_id
  cidr               = var.network.cidr
  availability_zones = var.network.availability_zones
  single_nat_gateway = var.network.single_nat_gateway
  kms_key_arn        = aws_kms_key.this.arn
  log_retention_days = var.log_retention_days
}

module "alarms" {
  source = "../alarms"

  environment_name = var.environment_name
  account_id       = var.account_id
  kms_key_arn      = aws_kms_key.this.arn
  emails           = var.alarm_emails
  paused           = var.paused
}

module "database" {
  source = "../database"

  name                      = local.name
  account_id                = var.account_id
  vpc_id                    = module.network.vpc_id
  subnet_ids                = module.network.private_subnet_ids
  client_security_group_ids = local.clients
  instance_class            = var.database.instance_class
  storage_gib               = var.database.storage_gib
  multi_az                  = var.database.multi_az
  backup_retention_days     = var.database.backup_retention_days
  deletion_protection       = var.database.deletion_protection
  kms_key_arn               = aws_kms_key.this.arn
  log_retention_days        = var.log_retention_days
  alarm_topic_arn           = module.alarms.topic_arn
}

# The queue role's own server, where it was restored or has outgrown the shared one.
module "queue_database" {
  source = "../database"
  count  = var.queue_database == null ? 0 : 1

  name                      = "${local.name}-${try(var.queue_database.suffix, "queue")}"
  account_id                = var.account_id
  vpc_id                    = module.network.vpc_id
  subnet_ids                = module.network.private_subnet_ids
  client_security_group_ids = local.clients
  instance_class            = try(var.queue_database.instance_class, null)
  storage_gib               = var.database.storage_gib
  multi_az                  = var.database.multi_az
  backup_retention_days     = var.database.backup_retention_days
  deletion_protection       = var.database.deletion_protection
  restore                   = try(var.queue_database.restore_time, null) == null ? null : { source_identifier = local.name, time = var.queue_database.restore_time }
  kms_key_arn               = aws_kms_key.this.arn
  log_retention_days        = var.log_retention_days
  alarm_topic_arn           = module.alarms.topic_arn
}

module "cache" {
  source = "../cache"

  name                      = local.name
  vpc_id                    = module.network.vpc_id
  subnet_ids                = module.network.private_subnet_ids
  client_security_group_ids = local.clients
  node_type                 = var.cache.node_type
  num_nodes                 = var.cache.num_nodes
  snapshot_retention_days   = var.cache.snapshot_retention_days
  kms_key_arn               = aws_kms_key.this.arn
  alarm_topic_arn           = module.alarms.topic_arn
}

resource "aws_ecs_cluster" "this" {
  name = local.name

  # Where the alarm on running tasks gets its numbers from.
  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

resource "aws_ecs_cluster_capacity_providers" "this" {
  cluster_name       = aws_ecs_cluster.this.name
  capacity_providers = ["FARGATE", "FARGATE_SPOT"]
}
