import { isUuid, newId } from '../../../kernel/ids.ts'
import { givenKey, type NewKey, newKey, randomBase62 } from '../keys/project-key.ts'

/** Secrets that a start may be given, each of which then counts: those of a Kubernetes Secret. */
export type GivenSecrets = {
  /** Id of the first project. */
  project_id?: string | undefined
  /** A key of that project, `lt_…`. */
  project_key?: string | undefined
  /** The key of a cluster's operator, `lt_op_…`. */
  operator_key?: string | undefined
  /** Password of the first administrator. */
  admin_password?: string | undefined
}

/** Given values that can't be taken; the message names what is wrong and quotes no secret. */
export class GivenSecretRefused extends Error {
  override readonly name = 'GivenSecretRefused'
}

/** New values for all of them, to be kept somewhere first and then given to `bootstrap`. */
export function mintGivenSecrets(): Required<{ [K in keyof GivenSecrets]: string }> {
  return {
    project_id: newId(),
    project_key: newKey('project').key,
    operator_key: newKey('operator').key,
    admin_password: randomBase62(24),
  }
}

/** What is stored of given values. Throws `GivenSecretRefused` for one that has another form. */
export function checkedSecrets(given: GivenSecrets): {
  project_id: string | undefined
  project_key: NewKey | undefined
  operator_key: NewKey | undefined
} {
  const { project_id, project_key, operator_key } = given
  if (project_id !== undefined && !isUuid(project_id)) {
    throw new GivenSecretRefused(`the project id "${project_id.slice(0, 80)}" is no UUID`)
  }
  return {
    project_id: project_id?.toLowerCase(),
    project_key: checkedKey('project', project_key),
    operator_key: checkedKey('operator', operator_key),
  }
}

const forms = {
  project: 'the project key: expected lt_, 8 letters or digits, _ and 32 letters or digits',
  operator: 'the operator key: expected lt_op_, 8 letters or digits, _ and 32 letters or digits',
}

function checkedKey(kind: keyof typeof forms, key: string | undefined): NewKey | undefined {
  if (key === undefined) return undefined
  const checked = givenKey(kind, key)
  if (checked === undefined) throw new GivenSecretRefused(forms[kind])
  return checked
}
