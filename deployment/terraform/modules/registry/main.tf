# One repository for each image. A tag is a commit and never moves; what runs is named by digest anyway.

resource "aws_ecr_repository" "this" {
  for_each = var.images

  name                 = "${var.prefix}/${each.key}"
  image_tag_mutability = "IMMUTABLE"

  image_scanning_configuration {
    scan_on_push = true
  }

  encryption_configuration {
    encryption_type = "KMS"
    kms_key         = var.kms_key_arn
  }
}

resource "aws_ecr_lifecycle_policy" "this" {
  for_each = var.images

  repository = aws_ecr_repository.this[each.key].name
  policy = jsonencode({
    rules = [{
      rulePriority = 1
      description  = "The newest stay: every one of them can be gone back to."
      selection    = { tagStatus = "any", countType = "imageCountMoreThan", countNumber = var.num_kept_images }
      action       = { type = "expire" }
    }]
  })
}

# Another environment's account pulls what was built here, and cannot push.
resource "aws_ecr_repository_policy" "readers" {
  for_each = length(var.reader_account_ids) == 0 ? toset([]) : var.images

  repository = aws_ecr_repository.this[each.key].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Pull"
      Effect    = "Allow"
      Principal = { AWS = [for id in sort(var.reader_account_ids) : "arn:aws:iam::${id}:root"] }
      Action    = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    }]
  })
}
