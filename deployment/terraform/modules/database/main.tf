# One PostgreSQL server: private, encrypted, reached over TLS only, backed up to any moment of the retention.

locals {
  is_restored = var.restore != null
}

resource "aws_db_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.subnet_ids
}

resource "aws_security_group" "this" {
  name        = "${var.name}-database"
  description = "PostgreSQL ${var.name}: lets in the clients that it is told, and calls nobody."
  vpc_id      = var.vpc_id
}

# Keys are names that are known before anything is made, so that another client is another rule and nothing else.
resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = var.client_security_group_ids

  security_group_id            = aws_security_group.this.id
  description                  = "from ${each.key}"
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
}

resource "aws_db_parameter_group" "this" {
  # No log_statement: it would write the passwords of ALTER ROLE into the log; slow statements and lock waits are logged
  name        = var.name
  family      = "postgres${var.major_version}"
  description = "TLS only, and slow statements are logged."

  parameter {
    name  = "rds.force_ssl"
    value = "1"
  }

  parameter {
    name  = "log_min_duration_statement"
    value = "1000"
  }

  # Whoever holds a lock up stands in the log.
  parameter {
    name  = "log_lock_waits"
    value = "1"
  }
}

resource "aws_db_instance" "this" {
  #checkov:skip=CKV_AWS_157: whether a standby in another zone is paid for is a cost switch of the environment; production has it on
  #checkov:skip=CKV_AWS_161: the three logins have passwords of their own from Secrets Manager; IAM tokens end after 15 minutes, pooled connections live longer
  #checkov:skip=CKV_AWS_293: whether it may be deleted is a switch of the environment; production protects it
  identifier     = var.name
  engine         = "postgres"
  engine_version = var.major_version
  instance_class = var.instance_class
  db_name        = local.is_restored ? null : var.database_name

  # AWS makes and keeps the administrator's password: it is in no variable and in no state.
  username                      = local.is_restored ? null : "headrace_admin"
  manage_master_user_password   = true
  master_user_secret_kms_key_id = var.kms_key_arn

  allocated_storage     = var.storage_gib
  max_allocated_storage = var.storage_gib * 4
  storage_type          = "gp3"
  storage_encrypted     = true
  kms_key_id            = var.kms_key_arn

  multi_az               = var.multi_az
  db_subnet_group_name   = aws_db_subnet_group.this.name
  vpc_security_group_ids = [aws_security_group.this.id]
  publicly_accessible    = false
  parameter_group_name   = aws_db_parameter_group.this.name
  ca_cert_identifier     = "rds-ca-rsa2048-g1"

  backup_retention_period   = var.backup_retention_days
  backup_window             = "02:00-03:00"
  maintenance_window        = "sun:03:30-sun:04:30"
  copy_tags_to_snapshot     = true
  delete_automated_backups  = false
  deletion_protection       = var.deletion_protection
  skip_final_snapshot       = false
  final_snapshot_identifier = "${var.name}-final"

  auto_minor_version_upgrade      = true
  apply_immediately               = false
  enabled_cloudwatch_logs_exports = ["postgresql", "upgrade"]
  performance_insights_enabled    = true
  performance_insights_kms_key_id = var.kms_key_arn
  monitoring_interval             = 60
  monitoring_role_arn             = aws_iam_role.monitoring.arn

  dynamic "restore_to_point_in_time" {
    for_each = var.restore[*]

    content {
      source_db_instance_identifier = restore_to_point_in_time.value.source_identifier
      restore_time                  = restore_to_point_in_time.value.time
    }
  }

  depends_on = [aws_cloudwatch_log_group.exported]
}
