/** Reasons of the condition Ready that every kind may have; the reference of kinds lists them. */
export const commonReasons: Readonly<Record<string, string>> = {
  Synced: 'The service was read and has what the spec says.',
  Pending: 'It was seen and not reconciled yet.',
  Suspended:
    '`spec.suspend` is true, or the annotation `looptrace.dev/paused` is: nothing is done.',
  InvalidSpec: 'The spec does not fit this operator: the CRD in the cluster is of another version.',
  ProjectNotFound: 'projectRef names no project.',
  ProjectAmbiguous: 'projectRef names several projects: say its id.',
  Conflict: 'Something else declares the same, and keeps it.',
  Forbidden: 'The operator may not do something in the cluster; the message says the verb.',
  ServiceUnavailable: 'The service gives no answer. It is tried again, and nothing is deleted.',
  ServiceRefused: 'The service said no; the message says why.',
  InternalError: 'A defect of the operator; its log says more. It is tried again.',
}
