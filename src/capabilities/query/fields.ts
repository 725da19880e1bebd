import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { isGroupable } from './language/aggregate-query.ts'
import { catalogue, entityNames } from './language/catalogue.ts'
import type { Entity, Field, FieldType } from './language/field.ts'
import { queryLimits } from './language/limits.ts'
import { fieldTypes, measureFunctions } from './language/measures.ts'
import { isSortable } from './language/page-query.ts'
import { operators, operatorsByType } from './language/values.ts'

/** GET /api/v2/observability/query/fields: what a query can name, for clients that build one. */
export function getQueryFields(): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/query/fields',
    id: 'getQueryFields',
    summary:
      'List the entities of queries, their fields, and the operators and functions of each type',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    reply: fieldsReply,
    errors: [],
    handle: async () => queryFields,
  })
}

const types = [
  'text',
  'uuid',
  'integer',
  'decimal',
  'float',
  'time',
  'bool',
  'list',
  'json',
] as const satisfies readonly FieldType[]

const fieldType = z
  .enum(types)
  .meta({ id: 'QueryFieldType' })
  .describe('`decimal`: a number as text. `list`: texts. `json`: can be selected, not compared.')

const fieldsReply = z
  .strictObject({
    entities: z.array(
      record('QueryEntityFields', {
        name: z.enum(entityNames),
        description: z.string(),
        time: z.string().describe('The field that the window bounds.'),
        maps: z.array(z.string()).describe('Maps whose keys are fields too: `attributes.<key>`.'),
        has_errors: z.boolean().describe('Whether `error_rate` is defined.'),
        restorable: z.boolean().describe('Whether `include_restored` is allowed.'),
        fields: z.array(
          record('QueryField', {
            name: z.string(),
            type: fieldType,
            description: z.string(),
            nullable: z
              .boolean()
              .describe('Whether the value of a number, time or id can be unknown.'),
            large: z.boolean().describe('Whether it must be named in `select` to be returned.'),
            indexed: z.boolean().describe('Whether an index finds few records among many.'),
            sortable: z.boolean(),
            groupable: z.boolean(),
          }),
        ),
      }),
    ),
    types: z.array(
      record('QueryTypeOperators', {
        type: fieldType,
        operators: z.array(z.enum(operators)),
        functions: z.array(z.enum(measureFunctions)),
      }),
    ),
    functions_without_field: z
      .array(z.enum(measureFunctions))
      .describe('Functions that can be used without a field.'),
    limits: z.record(z.string(), z.int()).describe('Bounds of a query.'),
  })
  .meta({ id: 'QueryFields' })

const withoutField = measureFunctions.filter((fn) => fieldTypes[fn] === null || fn === 'rate')

const queryFields: z.output<typeof fieldsReply> = {
  entities: entityNames.map((name) => describeEntity(name)),
  types: types.map((type) => ({
    type,
    operators: [...operatorsByType[type]],
    functions: measureFunctions.filter((fn) => fieldTypes[fn]?.includes(type)),
  })),
  functions_without_field: withoutField,
  limits: queryLimits,
}

function describeEntity(name: (typeof entityNames)[number]) {
  const entity: Entity = catalogue[name]
  return {
    name,
    description: entity.description,
    time: entity.time,
    maps: [...entity.maps],
    has_errors: entity.error_field !== undefined,
    restorable: Object.values(entity.stores).some(({ restored }) => restored !== undefined),
    fields: Object.values(entity.fields).map(describeField),
  }
}

function describeField(field: Field) {
  const { name, type, description, nullable = false, indexed = false } = field
  return {
    name,
    type,
    description,
    nullable,
    indexed,
    large: field.content === true || field.from_content === true,
    sortable: isSortable({ field }),
    groupable: isGroupable({ field }),
  }
}
