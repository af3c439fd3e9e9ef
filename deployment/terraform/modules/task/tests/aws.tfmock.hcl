mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::111111111111:role/mocked" }
}

mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:eu-central-1:111111111111:log-group:mocked" }
}

mock_resource "aws_ecs_task_definition" {
  defaults = { arn = "arn:aws:ecs:eu-central-1:111111111111:task-definition/mocked:1" }
}
