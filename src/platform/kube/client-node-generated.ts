// Takes the place of the generated index of `@kubernetes/client-node`; see `client-node.ts`.
export { createConfiguration } from '@kubernetes/client-node/dist/gen/configuration.js'
export { ServerConfiguration } from '@kubernetes/client-node/dist/gen/servers.js'
