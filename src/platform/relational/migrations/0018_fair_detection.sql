-- Who looks at tasks takes them from all projects in turn, and so looks for the longest due of each.
create index task_detections_due_by_project on task_detections (project_id, due_at)
  where due_at is not null
