import { compileAggregate } from '../compile/compile-aggregate.ts'
import { compileQuery } from '../compile/compile-query.ts'
import type { Dialect } from '../compile/dialect.ts'
import { fullOrder, type Position } from '../compile/page-order.ts'
import type { Statement } from '../compile/statement.ts'
import type { EntityName } from '../language/catalogue.ts'
import type { Aggregate } from '../language/check-aggregate.ts'
import type { Query } from '../language/check-query.ts'
import { normalAggregate, normalQuery } from '../language/normal-form.ts'
import type { StoreAsked } from './contract.ts'
import { classOf } from './query-class.ts'
import { hashOf } from './query-hash.ts'
import type { AskedRun } from './run-query.ts'

type Caller = { project_id: string; signal: AbortSignal }

/** A page to run; `after` says where it begins, once the statement's keys are known. */
export function askedQuery(
  query: Query,
  { project_id, signal }: Caller,
  after: (statement: Statement) => Position | undefined,
): AskedRun {
  return {
    ...storeAsked(query, { project_id, query_class: classOf(query) }),
    ...{ signal, limit: query.limit },
    query: named('query', project_id, normalQuery({ ...query, order_by: fullOrder(query) })),
    compile: (dialect, how = {}) => compiledPage(query, { project_id, dialect, ...how }, after),
  }
}

function compiledPage(
  query: Query,
  about: { project_id: string; dialect: Dialect; to_plan?: boolean },
  after: (statement: Statement) => Position | undefined,
): Statement {
  const first = compileQuery(query, about)
  const position = after(first)
  return position === undefined ? first : compileQuery(query, { ...about, after: position })
}

/** An aggregate to run. */
export function askedAggregate(aggregate: Aggregate, { project_id, signal }: Caller): AskedRun {
  return {
    ...storeAsked(aggregate, { project_id, query_class: 'aggregate' }),
    ...{ signal, limit: aggregate.limit },
    query: named('aggregate', project_id, normalAggregate(aggregate)),
    compile: (dialect) => compileAggregate(aggregate, { project_id, dialect }),
  }
}

function storeAsked(
  { entity, window, slices = [] }: Pick<Query, 'entity' | 'window' | 'slices'>,
  about: Pick<StoreAsked, 'project_id' | 'query_class'>,
): StoreAsked {
  const restored = slices.length > 0
  return { ...about, entity: entity.name as EntityName, window, restored }
}

function named(kind: 'query' | 'aggregate', project_id: string, body: object) {
  return { kind, hash: hashOf(project_id, body), body }
}
