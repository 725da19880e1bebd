import { stringify } from 'yaml'
import { apiGroup, apiVersion, type Kind, type PrinterColumn } from '../contract.ts'
import { pendingCondition } from '../ready-condition.ts'
import { notStructural, type StructuralSchema, type ValidationRule } from './structural-schema.ts'
import { structuralSchemaOf } from './structural-schema-from.ts'

/** The category that `kubectl get looptrace` lists. */
export const category = 'looptrace'

/** A CustomResourceDefinition of apiextensions.k8s.io/v1. */
export type Crd = {
  apiVersion: 'apiextensions.k8s.io/v1'
  kind: 'CustomResourceDefinition'
  metadata: { name: string }
  spec: {
    group: string
    scope: 'Namespaced'
    names: {
      kind: string
      listKind: string
      plural: string
      singular: string
      shortNames: readonly string[]
      categories: readonly string[]
    }
    versions: readonly CrdVersion[]
  }
}

type CrdVersion = {
  name: string
  served: true
  storage: true
  schema: { openAPIV3Schema: StructuralSchema }
  subresources: { status: object }
  additionalPrinterColumns: readonly CrdColumn[]
}

type CrdColumn = {
  name: string
  type: PrinterColumn['type']
  jsonPath: string
  description: string
  priority?: number
}

/**
 * The CRD of a kind, from its schemas alone; the same kind makes the same object. Throws
 * `SchemaNotStructural`, which names the field that a CRD can't have.
 */
export function crdOf(kind: Kind): Crd {
  const { plural, singular, short_names } = kind
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        shortNames: short_names,
        categories: [category],
      },
      versions: [
        {
          name: apiVersion.slice(apiGroup.length + 1),
          served: true,
          storage: true,
          schema: { openAPIV3Schema: resourceSchemaOf(kind) },
          subresources: { status: {} },
          additionalPrinterColumns: columnsOf(kind).map(columnOf),
        },
      ],
    },
  }
}

/** The structural schema of a whole resource of the kind. */
export function resourceSchemaOf(kind: Kind): StructuralSchema {
  const spec = { description: kind.description, ...structuralSchemaOf(kind.spec, 'spec') }
  const status = statusSchema(structuralSchemaOf(kind.status, 'status'))
  return {
    description: kind.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { description: `${apiVersion}.`, type: 'string' },
      kind: { description: `${kind.kind}.`, type: 'string' },
      metadata: { type: 'object' },
      spec,
      status,
    },
    ...rulesOf(kind),
  }
}

function rulesOf({ rules }: Kind): { 'x-kubernetes-validations'?: readonly ValidationRule[] } {
  if (rules.some(({ rule, message }) => !rule || !message)) {
    notStructural('rules', 'a rule without a message, expected both')
  }
  return rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }
}

/** The columns of `kubectl get` and `looptrace get` after the name, in order. */
export function columnsOf(kind: Kind): readonly PrinterColumn[] {
  return [
    condition('Ready', 'status', 'Whether the service has what the spec says.'),
    condition('Reason', 'reason', 'Why it is or is not ready.'),
    ...kind.columns,
    {
      name: 'Last Sync',
      type: 'date',
      path: '.status.lastSyncTime',
      description: lastSyncAbout,
    },
    {
      name: 'Age',
      type: 'date',
      path: '.metadata.creationTimestamp',
      description: 'When the resource was made.',
    },
  ]
}

function condition(name: string, field: string, description: string): PrinterColumn {
  const path = `.status.conditions[?(@.type=="Ready")].${field}`
  return { name, type: 'string', path, description }
}

function columnOf({ path, priority, ...column }: PrinterColumn): CrdColumn {
  return { ...column, jsonPath: path, ...(priority !== undefined && { priority }) }
}

/** The CRD as YAML; the same CRD makes the same bytes. */
export function crdYaml(crd: Crd): string {
  return stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' })
}

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
