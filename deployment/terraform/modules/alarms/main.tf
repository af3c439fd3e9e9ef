# The environment's topic, and what the queue says of itself: an old item, a dead letter, an outbox that lags.

resource "aws_sns_topic" "this" {
  name              = "headrace-${var.environment_name}-alarms"
  kms_master_key_id = var.kms_key_arn
}

resource "aws_sns_topic_policy" "this" {
  arn = aws_sns_topic.this.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Alarms"
      Effect    = "Allow"
      Principal = { Service = "cloudwatch.amazonaws.com" }
      Action    = "sns:Publish"
      Resource  = aws_sns_topic.this.arn
      Condition = { StringEquals = { "aws:SourceAccount" = var.account_id } }
    }]
  })
}

resource "aws_sns_topic_subscription" "email" {
  for_each = var.emails

  topic_arn = aws_sns_topic.this.arn
  protocol  = "email"
  endpoint  = each.key
}

locals {
  queue = {
    oldest-waiting = {
      metric    = "headrace_queue_oldest_waiting_seconds"
      statistic = "Maximum"
      threshold = var.oldest_waiting_seconds
      # No number at all means that no worker sweeps, or that none is heard.
      missing = "breaching"
      says    = "The oldest due item of ${var.environment_name} has waited longer than ${var.oldest_waiting_seconds} s, or no worker says how long: too few workers run, or they do not claim."
    }
    outbox-lag = {
      metric    = "headrace_outbox_lag_seconds"
      statistic = "Maximum"
      threshold = var.outbox_lag_seconds
      missing   = "breaching"
      says      = "The oldest outbox row of ${var.environment_name} has waited longer than ${var.outbox_lag_seconds} s, or no worker says how long: what follows from writes does not happen."
    }
    dead-letters = {
      metric    = "headrace_dead_letters_total"
      statistic = "Sum"
      threshold = 0
      missing   = "notBreaching"
      says      = "Items of ${var.environment_name} have failed for good: `headrace work list --status failed --with-error` shows them."
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "queue" {
  for_each = local.queue

  alarm_name          = "headrace-${var.environment_name}-${each.key}"
  alarm_description   = each.value.says
  namespace           = "Headrace/${var.environment_name}"
  metric_name         = each.value.metric
  dimensions          = { environment = var.environment_name }
  statistic           = each.value.statistic
  period              = 60
  evaluation_periods  = each.value.missing == "breaching" ? 5 : 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.threshold
  treat_missing_data  = each.value.missing
  actions_enabled     = !var.paused
  alarm_actions       = [aws_sns_topic.this.arn]
  ok_actions          = [aws_sns_topic.this.arn]
}
