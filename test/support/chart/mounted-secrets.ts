import type { KubeObject } from '../kube/kube-request.ts'

/** A file that a container sees. */
export type MountedFile = {
  /** Path in the container. */
  path: string
  /** Source of a file of a Secret; undefined for a file that an init container writes. */
  secret?: string
  /** Key of the value in its Secret. */
  key: string
  mode: number
}

/** Returns the files of Secrets that a container of a pod sees, by their paths. */
export function mountedSecrets(pod: KubeObject, container: KubeObject): Map<string, MountedFile> {
  const volumes = new Map<string, KubeObject>(
    pod.spec.volumes.map((volume: KubeObject) => [volume['name'], volume]),
  )
  const files = container.volumeMounts.flatMap((mount: KubeObject): MountedFile[] => {
    const volume = volumes.get(mount['name'])
    if (mount['name'] === 'bootstrap' && mount['subPath'] !== undefined) {
      return [{ path: mount['mountPath'], key: mount['subPath'], mode: 0o400 }]
    }
    const { defaultMode: mode, sources = [] } = volume?.['projected'] ?? {}
    return sources.flatMap(({ secret }: KubeObject) =>
      (secret?.items ?? []).map((item: KubeObject) => ({
        path: `${mount['mountPath']}/${item['path']}`,
        ...{ secret: secret.name, key: item['key'], mode },
      })),
    )
  })
  return new Map(files.map((file: MountedFile) => [file.path, file]))
}
