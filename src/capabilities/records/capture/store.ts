import type { CaptureTables, Selectable } from '../../../platform/relational/index.ts'
import { ProjectTable } from '../../documents/index.ts'
import { defaultRules } from './compile-policy.ts'

/** The table of capture policies. */
export const policyTable = new ProjectTable<Selectable<CaptureTables['capture_policies']>>(
  'capture_policies',
  { json: ['masks'], defaults: { ...defaultRules, masks: [] } },
)
