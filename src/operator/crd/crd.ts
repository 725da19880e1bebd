import { stringify } from 'yaml'
import { apiGroup, apiVersion, type Kind, type PrinterColumn } from '../contract.ts'
import { pendingCondition } from '../ready-condition.ts'
import { projectStatus } from '../tenancy/project-use.ts'
import { notStructural, type StructuralSchema, type ValidationRule } from './structural-schema.ts'
import { structuralSchemaFrom } from './structural-schema-from.ts'

/** The category for `kubectl get looptrace`. */
const category = 'looptrace'

/** A CustomResourceDefinition of apiextensions.k8s.io/v1. */
export type Crd = {
  apiVersion: 'apiextensions.k8s.io/v1'
  kind: 'CustomResourceDefinition'
  metadata: { name: string }
  spec: {
    group: string
    scope: 'Namespaced' | 'Cluster'
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
 * Creates the CRD of a kind from its schemas. The result is deterministic. Throws
 * `SchemaNotStructural` with the name of a field that does not fit a CRD.
 */
export function crdOf(kind: Kind): Crd {
  const { plural, singular, short_names } = kind
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      scope: kind.scope ?? 'Namespaced',
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

/** Returns the structural schema of a whole resource of the kind. */
export function resourceSchemaOf(kind: Kind): StructuralSchema {
  const spec = { description: kind.description, ...structuralSchemaFrom(kind.spec, 'spec') }
  const shared = kind.project && structuralSchemaFrom(projectStatus, 'status')
  const own = structuralSchemaFrom(kind.status, 'status')
  const status = statusSchema({ ...shared?.properties, ...own.properties })
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

/** Returns the columns of `kubectl get` and `looptrace get` after the name, in order. */
export function columnsOf(kind: Kind): readonly PrinterColumn[] {
  return [
    conditionColumn('Ready', 'status', 'Whether the service matches the spec.'),
    conditionColumn('Reason', 'reason', 'Reason of the Ready condition.'),
    ...kind.columns,
    {
      name: 'Last Sync',
      type: 'date',
      path: '.status.lastSyncTime',
      description: lastSyncDescription,
    },
    {
      name: 'Age',
      type: 'date',
      path: '.metadata.creationTimestamp',
      description: 'Time since the resource was created.',
    },
  ]
}

function conditionColumn(name: string, field: string, description: string): PrinterColumn {
  const path = `.status.conditions[?(@.type=="Ready")].${field}`
  return { name, type: 'string', path, description }
}

function columnOf({ path, priority, ...column }: PrinterColumn): CrdColumn {
  return { ...column, jsonPath: path, ...(priority !== undefined && { priority }) }
}

/** Writes the CRD as YAML, always with the same bytes. */
export function crdYaml(crd: Crd): string {
  return stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' })
}

/** Description of the field and of its column. */
const lastSyncDescription =
  'Time of the last reconcile that changed the status. A reconcile that finds no change writes nothing.'

/** Maximum conditions of a resource. */
const conditionsMax = 16

/**
 * Returns the schema of a status: the common fields and the kind's own. No field is required,
 * because a resource that has not been reconciled has conditions only.
 */
function statusSchema(own: StructuralSchema['properties']): StructuralSchema {
  return {
    description: 'State last read from the service. Written by the operator.',
    type: 'object',
    default: { conditions: [pendingCondition] },
    properties: {
      conditions: {
        description:
          'Conditions of the resource. Ready is True only after the service was read and matches the spec. Stalled is True while only a change by a user helps; Reconciling while the operator retries.',
        type: 'array',
        maxItems: conditionsMax,
        items: conditionSchema,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      },
      observedGeneration: {
        description: 'Generation of the spec that the status refers to.',
        type: 'integer',
        format: 'int64',
        minimum: 0,
      },
      lastSyncTime: {
        description: lastSyncDescription,
        type: 'string',
        format: 'date-time',
      },
      ...own,
    },
  }
}

/** The schema of `metav1.Condition`. */
const conditionSchema: StructuralSchema = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: {
      description: 'Type of the condition, in CamelCase.',
      type: 'string',
      pattern: '^[A-Z][A-Za-z]*$',
      maxLength: 63,
    },
    status: {
      description: 'Status of the condition.',
      type: 'string',
      enum: ['True', 'False', 'Unknown'],
    },
    observedGeneration: {
      description: 'Generation of the spec that the condition refers to.',
      type: 'integer',
      format: 'int64',
      minimum: 0,
    },
    lastTransitionTime: {
      description: 'Time of the last change of the status.',
      type: 'string',
      format: 'date-time',
    },
    reason: {
      description: 'Reason as one CamelCase word for programs.',
      type: 'string',
      pattern: '^[A-Z][A-Za-z0-9]*$',
      maxLength: 63,
    },
    message: {
      description: 'Reason as a sentence for people.',
      type: 'string',
      maxLength: 32768,
    },
  },
}
