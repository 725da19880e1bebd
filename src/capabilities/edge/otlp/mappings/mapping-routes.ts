import type { Route } from '../../../../platform/http/index.ts'
import type { ObservationStore } from '../../../storage/index.ts'
import { currentContract } from '../mapping/contracts/registry.ts'
import { explainOtlpMapping } from './explain.ts'
import { getOtlpMapping } from './otlp.ts'

/** The routes under `/api/v2/observability/mappings`. */
export function mappingRoutes(deps: { store: Pick<ObservationStore, 'observation'> }): Route[] {
  return [getOtlpMapping({ contract: currentContract }), explainOtlpMapping(deps)]
}
