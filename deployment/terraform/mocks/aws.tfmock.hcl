# What the mocked provider answers where something reads it as an ARN or an address.

mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::111111111111:role/mocked" }
}

mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:eu-central-1:111111111111:log-group:mocked" }
}

mock_resource "aws_ecs_task_definition" {
  defaults = { arn = "arn:aws:ecs:eu-central-1:111111111111:task-definition/mocked:1" }
}

mock_resource "aws_ecs_cluster" {
  defaults = { arn = "arn:aws:ecs:eu-central-1:111111111111:cluster/mocked" }
}

mock_resource "aws_kms_key" {
  defaults = { arn = "arn:aws:kms:eu-central-1:111111111111:key/mocked" }
}

mock_resource "aws_sns_topic" {
  defaults = { arn = "arn:aws:sns:eu-central-1:111111111111:mocked" }
}

mock_resource "aws_secretsmanager_secret" {
  defaults = { arn = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:mocked" }
}

mock_resource "aws_db_instance" {
  defaults = {
    address            = "mocked.rds.amazonaws.com"
    port               = 5432
    master_user_secret = [{ kms_key_id = "", secret_arn = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:administrator", secret_status = "active" }]
  }
}

mock_resource "aws_elasticache_replication_group" {
  defaults = { primary_endpoint_address = "mocked.cache.amazonaws.com" }
}
