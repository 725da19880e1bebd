import type { Kind } from '../../operator/contract.ts'
import { resourceSchemaOf, type StructuralSchema } from '../../operator/crd/index.ts'
import { checkMetadata } from './check-metadata.ts'
import { checkRules } from './check-rules.ts'
import { checkStructure } from './check-structure.ts'
import { type Fault, faultAt } from './fault.ts'
import { withDefaults } from './with-defaults.ts'

/** Checks a resource as the API server and then the operator would. */
export type ResourceCheck = (resource: Readonly<Record<string, unknown>>) => Fault[]

/** The check of a kind; its schema is made once. */
export function resourceCheck(kind: Kind): ResourceCheck {
  const schema = resourceSchemaOf(kind)
  return (resource) => {
    const { status, ...declared } = resource
    // The API server takes no status from those who apply a resource.
    const ignored = status === undefined ? [] : [statusIsIgnored]
    return [...ignored, ...checkDeclared(kind, schema, declared)]
  }
}

const statusIsIgnored: Fault = {
  ...{ path: ['status'], part: 'key', level: 'warning' },
  message: 'is the operator’s; what is written here is ignored',
}

function checkDeclared(
  kind: Kind,
  schema: StructuralSchema,
  declared: Readonly<Record<string, unknown>>,
): Fault[] {
  const { metadata } = declared
  const stored = withDefaults(declared, schema) as Readonly<Record<string, unknown>>
  const structure = [...checkMetadata(metadata), ...checkStructure(stored, schema, [])]
  if (structure.length > 0) return structure
  const rules = checkRules(stored, schema, [])
  return rules.length > 0 ? rules : checkAsOperator(kind, stored['spec'])
}

/** Nothing should be left for the operator to refuse; where a kind has more rules, it is told. */
function checkAsOperator(kind: Kind, spec: unknown): Fault[] {
  const { error } = kind.spec.safeParse(spec)
  return (error?.issues ?? []).map(({ path, message }) =>
    faultAt(
      ['spec', ...path.map((step) => (typeof step === 'number' ? step : String(step)))],
      message,
    ),
  )
}
