# Two roles: one for the platform that starts the task, one for what runs in it.

locals {
  assumed_by_tasks = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ecs-tasks.amazonaws.com" }
      # Of this account's tasks alone, so that nobody else's can be talked into assuming it.
      Condition = { StringEquals = { "aws:SourceAccount" = var.account_id } }
    }]
  })
  log_streams = "${aws_cloudwatch_log_group.this.arn}:log-stream:*"
}

resource "aws_iam_role" "execution" {
  name               = "headrace-${var.environment_name}-${var.name}-start"
  assume_role_policy = local.assumed_by_tasks
}

resource "aws_iam_role_policy" "execution" {
  #checkov:skip=CKV_AWS_355: ecr:GetAuthorizationToken takes no resource; every other statement names its own
  name = "start"
  role = aws_iam_role.execution.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        { Sid = "SignIn", Effect = "Allow", Action = ["ecr:GetAuthorizationToken"], Resource = "*" },
        {
          Sid      = "Pull"
          Effect   = "Allow"
          Action   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
          Resource = var.repository_arn
        },
        { Sid = "Log", Effect = "Allow", Action = ["logs:CreateLogStream", "logs:PutLogEvents"], Resource = local.log_streams },
      ],
      [for each in [
        { Sid = "ReadSecrets", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = sort(distinct(values(var.secrets))) },
        { Sid = "Decrypt", Effect = "Allow", Action = ["kms:Decrypt"], Resource = var.kms_key_arn },
      ] : each if length(var.secrets) > 0],
    )
  })
}

resource "aws_iam_role" "task" {
  name               = "headrace-${var.environment_name}-${var.name}-run"
  assume_role_policy = local.assumed_by_tasks
}

# The program itself asks AWS for nothing; the collector writes the numbers into the log group.
resource "aws_iam_role_policy" "task" {
  count = length(local.collector)

  name = "metrics"
  role = aws_iam_role.task.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "WriteMetrics"
      Effect   = "Allow"
      Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
      Resource = [aws_cloudwatch_log_group.this.arn, local.log_streams]
    }]
  })
}
