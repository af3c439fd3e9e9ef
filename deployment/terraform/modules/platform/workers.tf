# From the Terraform inputs to services. A worker that comes or goes edits nothing here.

locals {
  shared = merge(
    {
      HEADRACE_ENVIRONMENT   = var.environment_name
      HEADRACE_RELEASE       = var.release
      HEADRACE_CACHE_BACKEND = "redis"
      # The collector beside the program reads it; nothing else can.
      HEADRACE_METRICS_HOST = "127.0.0.1"
    },
    # The driver's own variables: no connection without TLS, not even to a server that would allow it.
    var.database_authorities == null ? { PGSSLMODE = "require" } : { PGSSLMODE = "verify-full", PGSSLROOTCERT = var.database_authorities },
    var.shared_settings,
  )
  clients = merge({ for name, worker in module.service : name => worker.security_group_id }, { migrate = aws_security_group.migrate.id })
  images  = { for program in concat(values(var.workers), [var.migration]) : program.image.name => "${var.registry}/${program.image.name}@${program.image.digest}" }
  # Secrets of each worker: those that it cannot start without, and the optional ones that this environment has.
  secrets = {
    for name, worker in var.workers : name => merge(
      { for variable, setting in worker.secrets : variable => aws_secretsmanager_secret.this[setting].arn },
      { for variable, setting in worker.optional_secrets : variable => aws_secretsmanager_secret.this[setting].arn if contains(local.optional, setting) },
      lookup(var.extra_secrets, name, {}),
    )
  }
}

module "service" {
  source   = "../service"
  for_each = var.workers

  name                  = each.key
  environment_name      = var.environment_name
  region                = var.region
  account_id            = var.account_id
  cluster_arn           = aws_ecs_cluster.this.arn
  cluster_name          = aws_ecs_cluster.this.name
  vpc_id                = module.network.vpc_id
  subnet_ids            = module.network.private_subnet_ids
  image                 = local.images[each.value.image.name]
  repository_arn        = local.repository_arns[each.value.image.name]
  entrypoint            = each.value.entrypoint
  command               = each.value.command
  cpu                   = each.value.cpu
  memory                = each.value.memory
  environment           = merge(local.shared, { HEADRACE_STOP_WINDOW = "${each.value.stop_timeout_seconds}s" }, lookup(var.settings, each.key, {}))
  secrets               = local.secrets[each.key]
  required_variables    = concat(each.value.required_variables, keys(each.value.secrets))
  kms_key_arn           = aws_kms_key.this.arn
  log_retention_days    = var.log_retention_days
  stop_timeout_seconds  = each.value.stop_timeout_seconds
  drain_seconds         = each.value.drain_seconds
  health_check          = each.value.health_check
  metrics_port          = each.value.metrics_port
  collector_image       = var.collector_image
  autoscaling_enabled   = var.autoscaling_enabled && !var.paused
  desired_count         = var.paused ? 0 : lookup(var.desired_counts, each.key, 1)
  scaling               = var.scaling
  capacity_provider     = var.use_spot ? "FARGATE_SPOT" : "FARGATE"
  wait_for_steady_state = !var.paused
  alarm_topic_arn       = module.alarms.topic_arn

  depends_on = [aws_ecs_cluster_capacity_providers.this]
}
