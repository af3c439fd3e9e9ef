# One Redis-compatible server with replicas: private, encrypted, over TLS and with a token only.

resource "aws_elasticache_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.subnet_ids
}

resource "aws_security_group" "this" {
  name        = "${var.name}-cache"
  description = "Redis ${var.name}: lets in the clients that it is told, and calls nobody."
  vpc_id      = var.vpc_id
}

# Keys are names that are known before anything is made, so that another client is another rule and nothing else.
resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = var.client_security_group_ids

  security_group_id            = aws_security_group.this.id
  description                  = "from ${each.key}"
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = 6379
  to_port                      = 6379
}

resource "aws_elasticache_parameter_group" "this" {
  name        = var.name
  family      = "valkey8"
  description = "What does not fit any more goes, the least used first."

  parameter {
    name  = "maxmemory-policy"
    value = "allkeys-lru"
  }
}

resource "aws_elasticache_replication_group" "this" {
  #checkov:skip=CKV2_AWS_50: whether another zone takes over is a cost switch of the environment; production has two nodes
  #checkov:skip=CKV_AWS_31: the token is set with the AWS command line and never seen here, since it would stand in the state (README, "Secrets")
  replication_group_id = var.name
  description          = "Headrace: liveness and the cache; the work itself never rests on it."
  engine               = "valkey"
  engine_version       = "8.0"
  node_type            = var.node_type
  port                 = 6379

  num_cache_clusters         = var.num_nodes
  automatic_failover_enabled = var.num_nodes > 1
  multi_az_enabled           = var.num_nodes > 1
  auto_minor_version_upgrade = true

  subnet_group_name    = aws_elasticache_subnet_group.this.name
  security_group_ids   = [aws_security_group.this.id]
  parameter_group_name = aws_elasticache_parameter_group.this.name

  at_rest_encryption_enabled = true
  kms_key_id                 = var.kms_key_arn
  transit_encryption_enabled = true
  transit_encryption_mode    = "required"

  snapshot_retention_limit = var.snapshot_retention_days
  snapshot_window          = "01:00-02:00"
  maintenance_window       = "sun:02:30-sun:03:30"

  lifecycle {
    ignore_changes = [auth_token, auth_token_update_strategy]
  }
}

resource "aws_cloudwatch_metric_alarm" "memory" {
  alarm_name          = "${var.name}-cache-memory"
  alarm_description   = "The cache ${var.name} is full above 80 %: keys go before their time."
  namespace           = "AWS/ElastiCache"
  metric_name         = "DatabaseMemoryUsagePercentage"
  dimensions          = { ReplicationGroupId = aws_elasticache_replication_group.this.id }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  treat_missing_data  = "notBreaching"
  alarm_actions       = [var.alarm_topic_arn]
  ok_actions          = [var.alarm_topic_arn]
}
