# Who talked to whom, for the day that somebody asks.
resource "aws_cloudwatch_log_group" "flows" {
  #checkov:skip=CKV_AWS_338: how long logs are kept is a cost switch of the environment; production keeps a year
  name              = "/headrace/${var.name}/flows"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn
}

resource "aws_iam_role" "flows" {
  name = "${var.name}-flows"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "vpc-flow-logs.amazonaws.com" }
      Condition = { StringEquals = { "aws:SourceAccount" = var.account_id } }
    }]
  })
}

resource "aws_iam_role_policy" "flows" {
  name = "write"
  role = aws_iam_role.flows.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
      Resource = [aws_cloudwatch_log_group.flows.arn, "${aws_cloudwatch_log_group.flows.arn}:log-stream:*"]
    }]
  })
}

resource "aws_flow_log" "this" {
  vpc_id          = aws_vpc.this.id
  traffic_type    = "ALL"
  iam_role_arn    = aws_iam_role.flows.arn
  log_destination = aws_cloudwatch_log_group.flows.arn
}
