package catalog

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	"github.com/cenkalti/backoff/v5"
)

// client returns c or a client of our own: proxies from the environment,
// certificates of the system, no step from https down to http.
func client(c *http.Client) *http.Client {
	if c != nil {
		return c
	}
	return &http.Client{
		Transport: http.DefaultTransport,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= 10 {
				return errors.New("stopped after 10 redirects")
			}
			if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
				return fmt.Errorf("%s redirects to an address without encryption, %s", via[0].URL.Host, req.URL.Host)
			}
			return nil
		},
	}
}

// certificate makes an untrusted certificate a final error that says who signed
// it: with a company proxy that is the authority to add.
func certificate(err error) error {
	var bad *tls.CertificateVerificationError
	if !errors.As(err, &bad) {
		return err
	}
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) && len(bad.UnverifiedCertificates) > 0 {
		last := bad.UnverifiedCertificates[len(bad.UnverifiedCertificates)-1]
		return backoff.Permanent(fmt.Errorf("the certificate is signed by %q, which this system does not trust; if your network uses that authority, add it to the certificates of the system: %w", last.Issuer, err))
	}
	return backoff.Permanent(err)
}
