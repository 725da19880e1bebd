import { registerHooks } from 'node:module'

/**
 * The parts of `@kubernetes/client-node` that connect and sign in. The package's own index also
 * loads the generated models of every Kubernetes API, which nothing here uses: 48 MiB of memory and
 * 0.3 s of processor time at each start. `config.js` imports that index for two names, so its
 * import is resolved to the files that have them.
 */
const generatedIndex = './gen/index.js'
const partsOfIndex = new URL('./client-node-generated.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === generatedIndex &&
    context.parentURL?.endsWith('/@kubernetes/client-node/dist/config.js') === true
      ? nextResolve(partsOfIndex, context)
      : nextResolve(specifier, context),
})

// Imported after the hook is registered; a static import would be resolved before.
const config = await import('@kubernetes/client-node/dist/config.js')
const http = await import('@kubernetes/client-node/dist/gen/http/http.js')
const library = await import('@kubernetes/client-node/dist/gen/http/isomorphic-fetch.js')

export const { KubeConfig } = config
export type KubeConfig = InstanceType<typeof KubeConfig>
export const { HttpMethod, RequestContext } = http
export type RequestContext = InstanceType<typeof RequestContext>
export const { IsomorphicFetchHttpLibrary } = library
export type IsomorphicFetchHttpLibrary = InstanceType<typeof IsomorphicFetchHttpLibrary>
