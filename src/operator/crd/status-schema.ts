import { pendingCondition } from '../pending-condition.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** Of the field, and of the column that shows it. */
export const lastSyncAbout =
  'When it was last written after a look at the service. Looks that find all as it was write nothing.'

/** How many conditions a resource may have. */
const conditionsMax = 16

/**
 * The schema of a status: what every kind has, and the kind's own. Nothing of it is required: a
 * resource that could not be reconciled yet has conditions and no more.
 */
export function statusSchema(own: StructuralSchema): StructuralSchema {
  return {
    description: 'What was last read back from the service. Written by the operator.',
    type: 'object',
    default: { conditions: [pendingCondition] },
    properties: {
      conditions: {
        description: 'Ready sums up: True only after the service was read and has the spec.',
        type: 'array',
        maxItems: conditionsMax,
        items: conditionSchema,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      },
      observedGeneration: {
        description: 'The generation of the spec that the status is about.',
        type: 'integer',
        format: 'int64',
        minimum: 0,
      },
      lastSyncTime: {
        description: lastSyncAbout,
        type: 'string',
        format: 'date-time',
      },
      ...own.properties,
    },
  }
}

/** As `metav1.Condition` has it. */
const conditionSchema: StructuralSchema = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: {
      description: 'What it is about, in CamelCase.',
      type: 'string',
      pattern: '^[A-Z][A-Za-z]*$',
      maxLength: 63,
    },
    status: {
      description: 'Whether it holds.',
      type: 'string',
      enum: ['True', 'False', 'Unknown'],
    },
    observedGeneration: {
      description: 'The generation of the spec that it was found for.',
      type: 'integer',
      format: 'int64',
      minimum: 0,
    },
    lastTransitionTime: {
      description: 'When the status last changed.',
      type: 'string',
      format: 'date-time',
    },
    reason: {
      description: 'Why, in one word for programs.',
      type: 'string',
      pattern: '^[A-Z][A-Za-z0-9]*$',
      maxLength: 63,
    },
    message: {
      description: 'Why, in a sentence for people.',
      type: 'string',
      maxLength: 32768,
    },
  },
}
