package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
)

func verifyCommand(a *app) *cobra.Command {
	var against, key string
	c := a.command("verify RUN|FILE [flags]", "Say whether the log of a run, or an export, is intact, or which entry is the first that is not", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			file := args[0]
			info, err := os.Stat(file)
			isFile := file == "-" || err == nil && !info.IsDir()
			switch {
			case isFile && against != "":
				return 0, misuse("--against compares the log of a run with an export; %s is a file", screen.OneLine(file))
			case key != "" && !isFile && against == "":
				return 0, misuse("--key checks the signature of an export; name one as FILE or with --against")
			case isFile:
				v, err := verifyFile(a, file, key)
				if err != nil {
					return 0, err
				}
				return a.printVerified(&v, file)
			}
			return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) {
				return verifyRun(ctx, a, j, h.Run, against, key)
			})
		})
	c.Flags().StringVar(&against, "against", "", "an earlier export of the run, in this `FILE`: the log must still begin with its entries")
	c.Flags().StringVar(&key, "key", "", "the Ed25519 public key, in this PEM `FILE`, with which the export must be signed")
	return c
}

func verifyRun(ctx context.Context, a *app, j pawl.Journal, run, against, key string) (int, error) {
	var anchor *archive.Verified
	if against != "" {
		v, err := verifyFile(a, against, key)
		switch {
		case err != nil:
			return 0, err
		case !v.Intact:
			return a.printVerified(&v, against)
		case v.Run != run:
			return 0, misuse("%s is an export of run %s", screen.OneLine(against), v.Run)
		}
		anchor = &v
	}
	v, err := archive.Verify(ctx, j, run, anchor)
	if err != nil {
		return 0, err
	}
	if anchor != nil {
		v.Signature = anchor.Signature
	}
	return a.printVerified(&v, "run "+run)
}

func verifyFile(a *app, name, key string) (v archive.Verified, err error) {
	var public ed25519.PublicKey
	if key != "" {
		if public, err = readKey[ed25519.PublicKey](key, "PUBLIC KEY", x509.ParsePKIXPublicKey); err != nil {
			return v, err
		}
	}
	in := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return v, refused(err)
		}
		defer f.Close()
		in = f
	}
	return archive.VerifyFile(in, public)
}

// printVerified prints the result, and returns the exit code.
func (con *console) printVerified(v *archive.Verified, what string) (code int, err error) {
	if !v.Intact {
		why := redact.Text(*v.Why)
		code, v.Why = exitBroken, &why
	}
	if what == "-" {
		what = "the export"
	}
	switch {
	case con.json:
		return code, printJSON(con.out, v)
	case v.Seq != nil:
		return code, fmt.Errorf("%s is not intact: entry %d is the first that is not: %s", what, *v.Seq, *v.Why)
	case !v.Intact:
		return code, fmt.Errorf("%s is not intact: %s", what, *v.Why)
	}
	text := ""
	if v.Redacted {
		text = " as a redacted copy"
	}
	_, err = fmt.Fprintf(con.out, "%s is intact%s: %s, digest %s, signature %s\n", what, text, display.Said(int(v.Entries), "1 entry", "%d entries"), v.Digest, v.Signature)
	return code, err
}

// readKey reads an Ed25519 key, as openssl writes it.
func readKey[K ed25519.PrivateKey | ed25519.PublicKey](file, kind string, parse func([]byte) (any, error)) (key K, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, refused(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return nil, refused(err)
	}
	if block, _ := pem.Decode(text); block != nil && block.Type == kind {
		parsed, _ := parse(block.Bytes) // nil if it is no key
		if key, ok := parsed.(K); ok {
			return key, nil
		}
	}
	return nil, misuse("%s has no Ed25519 %s in PEM; make one with openssl genpkey -algorithm ed25519 -out key.pem, and its public key with openssl pkey -in key.pem -pubout", file, kind)
}
