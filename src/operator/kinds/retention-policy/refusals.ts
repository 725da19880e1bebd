import { NotReady } from '../../contract.ts'
import { ServiceRefusal } from '../../service-client.ts'

/** What has to be put right elsewhere first, and then needs no hurry. */
const reasons: Readonly<Record<string, string>> = {
  project_not_found: 'ProjectNotFound',
  archive_not_configured: 'ArchiveNotConfigured',
  too_many_holds: 'TooManyHolds',
}

/** A refusal of the service in words of Ready, if it is of that sort; else the error as it came. */
export function asNotReady(error: unknown): unknown {
  if (!(error instanceof ServiceRefusal)) return error
  const reason = reasons[error.code]
  return reason === undefined ? error : new NotReady(reason, error.message)
}
