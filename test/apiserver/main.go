// Command apiserver is the Kubernetes API server of the tests: the published parts of the real one
// (etcd, apiextensions, generic registry, pod security) put together, for machines that have no
// stock kube-apiserver. See README.md for what it does not do.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"
)

// ready is the one line that is written to the standard output once requests are answered.
type ready struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

func main() {
	options := serverOptions{}
	flag.StringVar(&options.dataDir, "data-dir", "", "folder of etcd; kept over restarts")
	flag.StringVar(&options.tokenFile, "token-file", "", "CSV of token,user,uid,\"groups\"")
	flag.IntVar(&options.port, "port", 0, "port on 127.0.0.1; 0 takes a free one")
	klog.InitFlags(nil)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, options serverOptions) error {
	if options.dataDir == "" || options.tokenFile == "" {
		return fmt.Errorf("apiserver: -data-dir and -token-file are needed")
	}
	etcd, err := startEtcd(options.dataDir)
	if err != nil {
		return err
	}
	defer etcd.Close()
	server, err := newServer(options, etcd)
	if err != nil {
		return err
	}
	server.whenReady(func(url string) {
		_ = json.NewEncoder(os.Stdout).Encode(ready{URL: url, PID: os.Getpid()})
	})
	return server.run(ctx)
}
