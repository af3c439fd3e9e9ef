# Made before the server, which would otherwise make them itself, to be kept for ever.
resource "aws_cloudwatch_log_group" "exported" {
  #checkov:skip=CKV_AWS_338: how long logs are kept is a cost switch of the environment; production keeps a year
  for_each = toset(["postgresql", "upgrade"])

  name              = "/aws/rds/instance/${var.name}/${each.key}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn
}

resource "aws_iam_role" "monitoring" {
  name = "${var.name}-monitoring"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "monitoring.rds.amazonaws.com" }
      Condition = { StringEquals = { "aws:SourceAccount" = var.account_id } }
    }]
  })
}

resource "aws_iam_role_policy_attachment" "monitoring" {
  role       = aws_iam_role.monitoring.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AmazonRDSEnhancedMonitoringRole"
}

locals {
  alarms = {
    storage = { metric = "FreeStorageSpace", comparison = "LessThanThreshold", threshold = var.storage_gib * 107374182, says = "has less than a tenth of its storage free" }
    cpu     = { metric = "CPUUtilization", comparison = "GreaterThanThreshold", threshold = 85, says = "has been busy above 85 %" }
  }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = "The database ${var.name} ${each.value.says}."
  namespace           = "AWS/RDS"
  metric_name         = each.value.metric
  dimensions          = { DBInstanceIdentifier = aws_db_instance.this.identifier }
  statistic           = "Average"
  period              = 300
  evaluation_periods  = 3
  comparison_operator = each.value.comparison
  threshold           = each.value.threshold
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
  ok_actions          = [var.alarm_topic_arn]
}
